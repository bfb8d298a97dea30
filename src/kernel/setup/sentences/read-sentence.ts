// The guide of set-up without a model: it reads plain sentences, fills in the form and answers questions from facts. It is a pure
// function of the draft and the messages, and needs nothing that a new gateway may not have.

import { KEY_ENTERED } from "../../../lib/model-key.ts";
import { SECRET_REMOVED } from "../../../lib/redact.ts";
import type { OnboardingDraft } from "../../../protocol/onboarding.ts";
import type { Guidance, GuideInput } from "../guide.ts";
import { readAdministrator, readMachine } from "./read-machine.ts";
import { readModel } from "./read-model.ts";
import { readName } from "./read-name.ts";
import { readPlace } from "./read-place.ts";
import { readQuestion } from "./read-question.ts";
import { readStep } from "./read-step.ts";
import { isQuestion, type Reader, type Reading, type Sentence, type Topic } from "./sentence.ts";

/** `isUnderstood`: the sentence said something; if not, a model may be asked instead. */
export type Answer = Guidance & { isUnderstood: boolean };

const READERS: readonly Reader[] = [readName, readPlace, readAdministrator, readModel, readMachine, readQuestion];

/** The questions by which a bare answer is understood. */
const NAME_QUESTION = "What should I call you?";
const PLACE_QUESTION = /Which (?:large )?city [^?]*\?$/;
const MODEL_QUESTION = /Which (?:server runs|provider is) [^?]*\?$/;

const GREETING = /^\s*(?:hi|hello|hey|hallo|hola|moin|good (?:morning|evening|day|afternoon))(?: there| gsv)?\s*[.!,]*\s*$/iu;
const CONSENT =
  /^\s*(?:ok(?:ay)?|yes|yeah|yep|sure|fine|good|great|cool|nice|thanks?(?: you)?|thx|perfect|sounds good|right|correct)\s*[.!]*\s*$/iu;

export function readSentence({ draft, messages }: Pick<GuideInput, "draft" | "messages">, isDemo: boolean): Answer {
  const texts = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const text = texts.at(-1) ?? "";
  const topic = findTopic(draft, messages);
  const sentence = {
    text: text.replaceAll(SECRET_REMOVED, " ").replaceAll(KEY_ENTERED, " "),
    draft,
    topic,
    isQuestion: isQuestion(text),
    isDemo,
  };
  const readings = interpret(text, sentence);
  if (readings.length === 0) return makeConfusedAnswer(draft, texts, isDemo);
  const patches = readings.flatMap((reading) => reading.patches);
  const username = patches.findLast(({ path }) => path === "account.username")?.value ?? draft.account.username;
  const isAsking = readings.some(({ asks }) => asks !== undefined);
  // An answer to a question is long enough, and leads nowhere but to what was asked about.
  const isAnswered = patches.length === 0 && sentence.isQuestion;
  const next = isAsking ? null : nextStep(username === "");
  const focus = readings.findLast((reading) => reading.focus !== undefined)?.focus ?? (isAnswered ? undefined : next?.focus);
  const isReviewWanted = focus === "review";
  return {
    message: [...readings.map(({ says }) => says), ...(next === null || isReviewWanted || isAnswered ? [] : [next.says])]
      .filter(Boolean)
      .join(" "),
    patches,
    reviewReady: isReviewWanted || (username !== "" && !isAsking && !isAnswered),
    ...(focus === undefined || isReviewWanted ? {} : { focus }),
    isUnderstood: true,
  };
}

function interpret(text: string, sentence: Sentence): Reading[] {
  if (text.trim() === "" || GREETING.test(text) || CONSENT.test(text)) return [{ says: "", patches: [] }];
  const moved = readStep(sentence);
  if (moved !== null) return [moved];
  const readings = READERS.flatMap((read) => read(sentence) ?? []);
  if (text.includes(KEY_ENTERED)) return [...readings.map(withoutKeyRequest), readKey(sentence, readings)];
  if (!text.includes(SECRET_REMOVED)) return readings;
  return [...readings, { says: "I removed the secret from your message. Enter passwords and keys in the form.", patches: [] }];
}

function withoutKeyRequest(reading: Reading): Reading {
  return reading.focus === "ai.apiKey" ? { ...reading, says: "" } : reading;
}

/** The page has put a key into its field, and chosen the provider if the key tells which. */
function readKey({ draft }: Sentence, readings: readonly Reading[]): Reading {
  const hasProvider = draft.ai.provider !== "" || readings.some(({ patches }) => patches.some(({ path }) => path === "ai.provider"));
  return hasProvider
    ? { says: "The key is in its field, hidden. Test it there.", patches: [], focus: "ai.model" }
    : { says: "The key is kept, hidden. Which provider is it from?", patches: [], focus: "ai.provider", asks: "model" };
}

function findTopic(draft: OnboardingDraft, messages: GuideInput["messages"]): Topic | null {
  const asked = messages.findLast(({ role }) => role === "assistant")?.content;
  if (asked?.endsWith(NAME_QUESTION) === true) return "name";
  if (asked !== undefined && PLACE_QUESTION.test(asked)) return "place";
  if (asked !== undefined && MODEL_QUESTION.test(asked)) return "model";
  // The page's greeting, which is not sent, has asked for the name.
  return draft.account.username === "" && draft.detailStep === "account" ? "name" : stepTopic(draft);
}

function stepTopic({ detailStep }: OnboardingDraft): Topic | null {
  return detailStep === "system" ? "place" : detailStep === "ai" ? "model" : null;
}

function nextStep(needsName: boolean): { says: string; focus: string } {
  return needsName
    ? { says: NAME_QUESTION, focus: "account.username" }
    : { says: "Enter your password in the form; everything else can stay as it is.", focus: "account.password" };
}

/** The second time in a row it hands over to the form. */
function makeConfusedAnswer(draft: OnboardingDraft, texts: readonly string[], isDemo: boolean): Answer {
  const before = texts.at(-2);
  const isAgain = before !== undefined && !readSentence({ draft, messages: [{ role: "user", content: before }] }, isDemo).isUnderstood;
  const needsName = draft.account.username === "";
  return {
    message: isAgain
      ? `I did not understand that either. The form is quicker: it continues with your ${needsName ? "name" : "password"}, and keeps what you gave me.`
      : `I did not understand that. Try "call me ada", "I live in Lisbon", "use Ollama", "is it safe?" or "connect a machine called laptop".${needsName ? ` ${NAME_QUESTION}` : ""}`,
    patches: [],
    reviewReady: false,
    focus: needsName ? "account.username" : "account.password",
    isUnderstood: false,
  };
}
