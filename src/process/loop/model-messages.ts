// Turns a conversation into the messages for a model. A history may hold anything that a crash, an abort or a cut can leave
// behind, and providers refuse messages that are out of order. So for any input the output begins with a user message, ends with
// the message to answer, has exactly one result after every tool call, no empty block, and no two messages of one role in a row.

import type { InputBlock, ModelMessage, OutputBlock } from "../../ports/models.ts";
import { estimateTokens } from "../../agent/estimate.ts";
import { UNKNOWN_OUTCOME, type ToolImage } from "../../agent/tool-text.ts";

export type HistoryRow = { id: number; createdAt: number } & (
  | { role: "user"; content: { text: string; media?: readonly Media[] } }
  /** `model` is the author, provider/model. */
  | { role: "assistant"; content: { blocks: readonly OutputBlock[]; model?: string; stopped?: true } }
  | { role: "system"; content: { text: string } }
  | { role: "toolResult"; content: ToolResult }
);

export type ToolResult = { callId: string; tool: string; isError: boolean; output: string; images?: readonly ToolImage[] };

/** `data` is set for pictures the model is to see; everything else is described in words. */
export type Media = {
  type: "image" | "audio" | "video" | "document";
  mimeType: string;
  data?: Uint8Array;
  url?: string;
  filename?: string;
  size?: number;
  duration?: number;
  transcription?: string;
};

export type PreparedMessages = {
  messages: ModelMessage[];
  /** Rows that were left out for lack of room; the first message says so. */
  omitted: number;
};

/** What the message of a row may count beyond the row itself. */
const ROW_TOKENS_MAX = 60;

/** Marks events of the runtime, as opposed to people. The prompts tell the model so, hence no other text may begin with it. */
export const EVENT = "[Process Event]:";

/**
 * Newest last. With a budget, the oldest turns are left out until the rest fits; the last request always stays. `model` is the
 * model to be called, provider/model; `tokens` is the size of the rows if it is known, which saves measuring them again.
 */
export function toModelMessages(
  rows: readonly HistoryRow[],
  budgetTokens: number | null = null,
  model: string | null = null,
  tokens = Infinity,
): PreparedMessages {
  const steps = groupIntoSteps(rows, model);
  const fits = budgetTokens === null || tokens + rows.length * ROW_TOKENS_MAX <= budgetTokens;
  const { kept, omitted } = fits ? { kept: steps, omitted: 0 } : fitSteps(steps, budgetTokens);
  return { messages: addFraming(mergeNeighbours(limitImages(kept))), omitted };
}

/** What stays together: an input, or an answer with the results of all its calls. */
type Step = {
  kind: "input" | "answer";
  messages: readonly ModelMessage[];
  rows: number;
  at: number;
  hasImages: boolean;
  /** The estimated size, once it was asked for. */
  tokens?: number;
};

type Assistant = Extract<HistoryRow, { role: "assistant" }>;
type ToolCall = Extract<OutputBlock, { type: "toolCall" }>;

/**
 * The step of each row that was used before: nearly all rows of a request are those of the request before. The step of an answer also
 * depends on the model that is called, on the results of its calls, and on the ids of the calls before it.
 */
const inputSteps = new WeakMap<HistoryRow, Step>();
const answerSteps = new WeakMap<HistoryRow, { step: Step; model: string | null; results: readonly ToolResult[]; ids: readonly string[] }>();

function groupIntoSteps(rows: readonly HistoryRow[], model: string | null): Step[] {
  const steps: Step[] = [];
  const ids = new Set<string>();
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const step =
      row.role === "assistant"
        ? answerStepOf(row, resultsAfter(rows, at), ids, model)
        : row.role === "toolResult"
          ? null
          : inputStepOf(row);
    if (step !== null && step.messages.length > 0) steps.push(step);
  }
  return steps;
}

function inputStepOf(row: Extract<HistoryRow, { role: "user" | "system" }>): Step {
  const known = inputSteps.get(row);
  if (known !== undefined) return known;
  const { text } = row.content;
  const content =
    row.role === "system"
      ? makeTextBlocks(text, `${EVENT}\n`)
      : [...makeTextBlocks(text, isEvent(text) ? "> " : ""), ...(row.content.media ?? []).flatMap(makeMediaBlocks)];
  const step = makeStep("input", content.length === 0 ? [] : [{ role: "user", content }], 1, row.createdAt);
  inputSteps.set(row, step);
  return step;
}

function answerStepOf(row: Assistant, results: readonly ToolResult[], ids: Set<string>, model: string | null): Step {
  const known = answerSteps.get(row);
  const isSame =
    known?.model === model &&
    known.results.length === results.length &&
    known.results.every((result, at) => result === results[at]) &&
    !known.ids.some((id) => ids.has(id));
  if (isSame) {
    for (const id of known.ids) ids.add(id);
    return known.step;
  }
  const before = ids.size;
  const step = makeAnswerStep(row, results, ids, model);
  answerSteps.set(row, { step, model, results, ids: [...ids].slice(before) });
  return step;
}

function makeStep(kind: Step["kind"], messages: readonly ModelMessage[], rows: number, at: number): Step {
  const hasImages = messages.some(({ role, content }) => role !== "assistant" && content.some(({ type }) => type === "image"));
  return { kind, messages, rows, at, hasImages };
}

/** Only results before the next answer count: later ones belong to a run that has ended, and that answer already saw an outcome. */
function resultsAfter(rows: readonly HistoryRow[], at: number): ToolResult[] {
  const results: ToolResult[] = [];
  for (let next = at + 1; next < rows.length; next++) {
    const row = rows[next]!;
    if (row.role === "assistant") break;
    if (row.role === "toolResult") results.push(row.content);
  }
  return results;
}

function makeAnswerStep(row: Assistant, results: readonly ToolResult[], ids: Set<string>, model: string | null): Step {
  const isForeign = model !== null && row.content.model !== undefined && row.content.model !== model;
  const isStopped = row.content.stopped === true;
  // Thoughts that were cut off have no signature.
  const blocks = (isForeign || isStopped ? row.content.blocks.flatMap(withoutThoughtsAndSignatures) : row.content.blocks).filter(
    hasSubstance,
  );
  const unusedResults = [...results];
  const messages: ModelMessage[] = [];
  const content = blocks.map((block) => {
    if (block.type !== "toolCall") return block;
    // Some servers restart their call ids in every answer; others refuse an id they have seen.
    const call = { ...block, id: uniqueId(block.id, ids) };
    const found = unusedResults.findIndex(({ callId }) => callId === block.id);
    messages.push(makeResultMessage(call, found === -1 ? null : unusedResults.splice(found, 1)[0]!));
    return call;
  });
  // Providers refuse an answer that consists of thoughts alone.
  const isAnswer = content.some(({ type }) => type !== "thinking");
  const cutOff = isStopped ? [makeEventMessage("The user stopped this answer here.")] : [];
  return makeStep("answer", isAnswer ? [{ role: "assistant", content }, ...messages, ...cutOff] : [], 1 + messages.length, row.createdAt);
}

function makeResultMessage({ id, name }: ToolCall, result: ToolResult | null): ModelMessage {
  const { isError, output, images = [] } = result ?? { isError: true, output: `Error: No result was recorded. ${UNKNOWN_OUTCOME}` };
  const text: InputBlock = { type: "text", text: isBlank(output) ? "(no output)" : output };
  return { role: "tool", callId: id, toolName: name, isError, content: [text, ...images.map(makeImageBlock)] };
}

/** Thoughts and signatures are only valid for the model that wrote them: others refuse them. */
function withoutThoughtsAndSignatures(block: OutputBlock): OutputBlock[] {
  if (block.type === "thinking") return [];
  if (block.type === "text") return [block];
  const { signature: _, ...call } = block;
  return [call];
}

function hasSubstance(block: OutputBlock): boolean {
  if (block.type === "text") return !isBlank(block.text);
  return block.type === "toolCall" || block.redacted === true || block.signature !== undefined || !isBlank(block.thinking);
}

function uniqueId(id: string, ids: Set<string>): string {
  let free = id === "" ? "call" : id;
  for (let count = 2; ids.has(free); count++) free = `${id === "" ? "call" : id}_${count}`;
  ids.add(free);
  return free;
}

/** Providers refuse requests with more, in number or in size. */
const IMAGES_MAX = 20;
const IMAGES_BYTES_MAX = 16 * 1024 * 1024;

/** Keeps the newest pictures and replaces the others by a text. */
function limitImages(steps: readonly Step[]): readonly Step[] {
  if (!steps.some(({ hasImages }) => hasImages)) return steps;
  const seen = { images: 0, bytes: 0 };
  const keepOrDescribe = (block: InputBlock): InputBlock => {
    if (block.type !== "image") return block;
    seen.images++;
    seen.bytes += block.data.length;
    if (seen.images <= IMAGES_MAX && seen.bytes <= IMAGES_BYTES_MAX) return block;
    return { type: "text", text: `[A picture (${block.mimeType}) was here. To see it again, read it again]` };
  };
  const mapNewestFirst = <T, R>(items: readonly T[], change: (item: T) => R) => items.toReversed().map(change).toReversed();
  return mapNewestFirst(steps, (step) =>
    step.hasImages
      ? {
          ...step,
          messages: mapNewestFirst(step.messages, (message) =>
            message.role === "assistant" ? message : { ...message, content: mapNewestFirst(message.content, keepOrDescribe) },
          ),
        }
      : step,
  );
}

type FittedSteps = { kept: Step[]; omitted: number };

/** Room for the lines that say what is left out. */
const MARKERS_TOKENS = 150;

function fitSteps(steps: readonly Step[], budget: number): FittedSteps {
  const sizes = steps.map((step) => (step.tokens ??= estimateTokens(step.messages)));
  if (sum(sizes) <= budget) return { kept: [...steps], omitted: 0 };
  const room = Math.max(1, budget - MARKERS_TOKENS);
  const lastTurn = Math.max(
    0,
    steps.findLastIndex((_, at) => isTurnStart(steps, at)),
  );
  const tokensToDrop = roundUpToQuarters(sum(sizes) - room, room);
  let from = 0;
  for (let dropped = 0; from < steps.length && (dropped < tokensToDrop || !isTurnStart(steps, from)); from++) dropped += sizes[from]!;
  if (from > lastTurn) return cutLastTurn(steps, sizes, lastTurn, room);
  return { kept: [...makeOmissionMarker(steps.slice(0, from)), ...steps.slice(from)], omitted: countRows(steps.slice(0, from)) };
}

/** The last turn alone is too long: keeps its request and the newest part of the work on it. */
function cutLastTurn(steps: readonly Step[], sizes: readonly number[], turn: number, room: number): FittedSteps {
  let work = turn;
  while (steps[work]?.kind === "input") work++;
  const tokensToDrop = roundUpToQuarters(sum(sizes.slice(turn)) - room, room);
  let from = work;
  for (let dropped = 0; from < steps.length - 1 && dropped < tokensToDrop; from++) dropped += sizes[from]!;
  const [before, asked, between, rest] = [steps.slice(0, turn), steps.slice(turn, work), steps.slice(work, from), steps.slice(from)];
  return {
    kept: [...makeOmissionMarker(before), ...asked, ...makeOmissionMarker(between), ...rest],
    omitted: countRows(before) + countRows(between),
  };
}

/** A turn begins with the first input after an answer. */
function isTurnStart(steps: readonly Step[], at: number): boolean {
  return steps[at]?.kind === "input" && steps[at - 1]?.kind !== "input";
}

/**
 * What is left out grows by a quarter of the room at a time: providers cache by prefix, and a cut that moved with every message
 * would never hit the cache.
 */
function roundUpToQuarters(excess: number, room: number): number {
  const piece = Math.max(1, room / 4);
  return Math.ceil(Math.max(0, excess) / piece) * piece;
}

function makeOmissionMarker(gone: readonly Step[]): Step[] {
  const [first, last] = [gone[0], gone.at(-1)];
  if (first === undefined || last === undefined) return [];
  const span = `from ${new Date(first.at).toISOString()} to ${new Date(last.at).toISOString()}`;
  const text = `${countRows(gone)} messages ${span} are left out here to save room. They are still in this conversation's history.`;
  return [makeStep("input", [makeEventMessage(text)], 0, last.at)];
}

function countRows(steps: readonly Step[]): number {
  return sum(steps.map(({ rows }) => rows));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Merges neighbours of one role into one message; results stay separate, each with its call. */
function mergeNeighbours(steps: readonly Step[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  for (const step of steps) {
    for (const message of step.messages) {
      const last = messages.at(-1);
      if (last?.role === "user" && message.role === "user")
        messages[messages.length - 1] = { role: "user", content: [...last.content, ...message.content] };
      else if (last?.role === "assistant" && message.role === "assistant")
        messages[messages.length - 1] = { role: "assistant", content: [...last.content, ...message.content] };
      else messages.push(message);
    }
  }
  return messages;
}

/** A process may start without a message, and may be woken after it has answered: then an event says so. */
function addFraming(messages: ModelMessage[]): ModelMessage[] {
  if (messages[0]?.role !== "user")
    messages.unshift(makeEventMessage("This run was started without a message. Do what your context asks of you."));
  if (messages.at(-1)?.role === "assistant") messages.push(makeEventMessage("Continue from here."));
  return messages;
}

function isEvent(text: string): boolean {
  return text.trimStart().startsWith(EVENT);
}

function makeEventMessage(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text: `${EVENT}\n${text}` }] };
}

function makeTextBlocks(text: string, before = ""): InputBlock[] {
  return isBlank(text) ? [] : [{ type: "text", text: `${before}${text}` }];
}

function makeImageBlock({ mimeType, data }: ToolImage): InputBlock {
  return { type: "image", mimeType, data };
}

function makeMediaBlocks(media: Media): InputBlock[] {
  const { type, mimeType, data, url, filename, size, duration, transcription } = media;
  if (type === "image" && data !== undefined) return [{ type: "image", mimeType, data }];
  const facts = [
    filename === undefined ? [] : [`name ${filename}`],
    [mimeType],
    size === undefined ? [] : [`${size} bytes`],
    duration === undefined ? [] : [`${duration} seconds`],
    url === undefined ? [] : [`at ${url}, not fetched`],
  ].flat();
  const transcript = transcription === undefined || isBlank(transcription) ? "" : `\nTranscript: ${transcription}`;
  return [{ type: "text", text: `[Attached ${type}: ${facts.join(", ")}]${transcript}` }];
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
