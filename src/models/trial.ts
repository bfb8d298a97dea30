// Tries a model before anybody relies on it: lists the provider's models (listing.ts), asks one tiny real question, measures the
// time, and describes problems for the person who has just typed a key. Stores nothing and quotes no key.

import type { Crypto } from "../ports/crypto.ts";
import type { ModelChoice, ModelFailure, OutputBlock } from "../ports/models.ts";
import type { Net, NetError } from "../ports/net.ts";
import type { ModelCheck } from "../protocol/model-check.ts";
import { type Listing, listModels } from "./listing.ts";
import { ProviderModels } from "./models.ts";
import { type Provider, PROVIDERS, findProvider } from "./providers.ts";
import type { WorkersAi } from "./workers-ai.ts";

export type TrialServices = {
  net: Net;
  crypto: Pick<Crypto, "randomBytes" | "uuid">;
  workersAi: WorkersAi | undefined;
  now: () => number;
};

/** A large self-hosted model is loaded before its first word. */
const LIMITS = { tries: 1, silenceMs: 25_000, localSilenceMs: 40_000 };
const QUESTION = "Answer with the single word: ready";
/** Room for a model that thinks before it answers; some refuse a limit below 16. */
const ANSWER_TOKENS = 64;
const ANSWER_CHARS_MAX = 200;

/** Tried if no model is named, before the first of the list. */
const SUGGESTED: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-haiku-4-5"],
  openai: ["gpt-6.1-sol", "gpt-6-sol", "gpt-5.6-terra", "gpt-5.4-mini", "gpt-5-mini"],
  google: ["gemini-3.5-flash", "gemini-3-flash", "gemini-2.5-flash"],
  openrouter: ["openrouter/auto"],
  deepseek: ["deepseek-chat"],
};

type TrialChoice = Omit<ModelChoice, "reasoning" | "maxOutputTokens">;

export async function tryModel(services: TrialServices, given: TrialChoice, signal: AbortSignal): Promise<ModelCheck> {
  const choice: ModelChoice = { ...given, reasoning: "off", maxOutputTokens: ANSWER_TOKENS };
  const provider = choice.provider === "demo" ? DEMO : findProvider(choice.provider);
  if (provider === undefined) return failedCheck(choice, choice.provider, null, unknownProviderProblem(choice.provider));
  const { title } = provider;
  const missing = missingSettingProblem(choice, provider);
  if (missing !== null) return failedCheck(choice, title, null, missing);
  const listing: Listing = provider === DEMO ? { ok: true, models: ["demo"] } : await listModels(services.net, choice, provider, signal);
  const models = listing.ok ? listing.models : null;
  const problem = listing.ok ? emptyListProblem(choice, provider, listing.models) : listingProblem(choice, provider, listing);
  if (problem !== null) return failedCheck(choice, title, models, problem);
  const model = choice.model || suggestedModel(choice.provider, models);
  if (model === "") return failedCheck(choice, title, models, { field: "model", message: `Choose a model of ${title}.` });
  const named = { ...choice, model };
  const startedAt = services.now();
  const answer = await askModel(services, named, signal);
  if (!answer.ok) return failedCheck(named, title, models, problemFromFailure(named, provider, answer.failure, listing));
  const { provider: id } = choice;
  return { ok: true, provider: id, title, model, models, ms: Math.max(0, services.now() - startedAt), said: answer.text, problem: null };
}

/** The models of a server, and why there are none. Asks no question, so it costs nothing. */
export async function listChoices(net: Net, choice: ModelChoice): Promise<{ title: string; models: string[]; problem: string | null }> {
  const provider = choice.provider === "demo" ? DEMO : findProvider(choice.provider);
  if (provider === undefined) return { title: choice.provider, models: [], problem: unknownProviderProblem(choice.provider).message };
  const { title } = provider;
  if (provider === DEMO) return { title, models: ["demo"], problem: null };
  const missing = choice.unusable ?? missingSettingProblem(choice, provider)?.message;
  if (missing !== undefined) return { title, models: [], problem: missing };
  const listing = await listModels(net, choice, provider, new AbortController().signal);
  if (listing.ok) return { title, models: listing.models, problem: emptyListProblem(choice, provider, listing.models)?.message ?? null };
  return { title, models: [], problem: listingProblem(choice, provider, listing)?.message ?? unlistedText(provider, listing) };
}

/** Workers AI has no list. */
function unlistedText({ title }: Provider, { status }: Extract<Listing, { ok: false }>): string | null {
  return status === null ? null : `${title} does not list its models.`;
}

const DEMO: Provider = { dialect: "compatible", title: "The demo model", baseUrl: "", needsKey: false };

type Problem = NonNullable<ModelCheck["problem"]>;

function failedCheck({ provider, model }: ModelChoice, title: string, models: string[] | null, problem: Problem): ModelCheck {
  return { ok: false, provider, title, model, models, ms: null, said: "", problem };
}

function unknownProviderProblem(id: string): Problem {
  const known = [...Object.keys(PROVIDERS), "demo"].join(", ");
  return { field: "provider", message: `There is no provider "${id.slice(0, 40)}". Choose one of: ${known}.` };
}

function missingSettingProblem({ apiKey, baseUrl }: ModelChoice, { needsKey, title, baseUrl: defaultUrl }: Provider): Problem | null {
  if (needsKey && apiKey === "")
    return { field: "apiKey", message: `${title} needs a key. Create one in your account there and paste it here.` };
  if ((baseUrl ?? defaultUrl) === null)
    return { field: "baseUrl", message: "Enter the URL of the model server, for example http://127.0.0.1:8080/v1." };
  return null;
}

function emptyListProblem({ model }: ModelChoice, { title, local }: Provider, models: readonly string[]): Problem | null {
  if (models.length > 0 || model !== "" || local === undefined) return null;
  const how = local === "ollama" ? "Get one with: ollama pull NAME, then check again." : "Load one there, then check again.";
  return { field: "model", message: `${title} runs, but has no model yet. ${how}` };
}

/** The problems that a failed listing proves. Everything else is left to the real question. */
function listingProblem(choice: ModelChoice, provider: Provider, { status, error }: Extract<Listing, { ok: false }>): Problem | null {
  if (error !== null) return unreachableProblem(choice, provider, error);
  return status === 401 || status === 403 ? refusedKeyProblem(choice, provider) : null;
}

function suggestedModel(provider: string, models: readonly string[] | null): string {
  const likely = SUGGESTED[provider] ?? [];
  if (models === null) return "";
  return likely.find((model) => models.includes(model)) ?? models[0] ?? "";
}

type TrialAnswer = { ok: true; text: string } | { ok: false; failure: ModelFailure };

async function askModel({ net, crypto, workersAi, now }: TrialServices, choice: ModelChoice, signal: AbortSignal): Promise<TrialAnswer> {
  const models = new ProviderModels({ net, crypto, now, limits: LIMITS, ...(workersAi === undefined ? {} : { workersAi }) });
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: QUESTION }] }];
  for await (const event of models.stream({ choice, system: "", messages, tools: [], affinity: "check" }, signal)) {
    if (event.type === "done") return { ok: true, text: shortAnswerText(event.content) };
    if (event.type === "error") return { ok: false, failure: event.error };
  }
  return { ok: false, failure: { kind: "other", message: "The model did not answer" } };
}

function shortAnswerText(content: readonly OutputBlock[]): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
  return text.replaceAll(/\s+/g, " ").trim().slice(0, ANSWER_CHARS_MAX);
}

function problemFromFailure(choice: ModelChoice, provider: Provider, { kind, message }: ModelFailure, listing: Listing): Problem {
  const { title } = provider;
  switch (kind) {
    case "refused-key":
      return refusedKeyProblem(choice, provider);
    case "unknown-model":
      // If there was no list either, the address is wrong rather than the model.
      if (!listing.ok && listing.status !== null && choice.baseUrl !== null) return wrongAddressProblem(choice.baseUrl);
      return {
        field: "model",
        message: `${title} has no model "${choice.model}"${listing.ok ? ". Choose one from its list." : ": check its name there."}`,
      };
    case "silent":
      return {
        field: null,
        message: `${title} accepted the question but did not answer in time. Try again; a large model may still be loading.`,
      };
    case "malformed":
      return choice.baseUrl === null ? { field: null, message: withPeriod(message) } : wrongAddressProblem(choice.baseUrl);
    case "unreachable":
      return { field: choice.baseUrl === null ? "provider" : "baseUrl", message: withPeriod(message) };
    default:
      return { field: null, message: withPeriod(message) };
  }
}

function refusedKeyProblem({ apiKey }: ModelChoice, { title }: Provider): Problem {
  if (apiKey === "") return { field: "apiKey", message: `${title} asks for a key. Paste it here.` };
  return { field: "apiKey", message: `${title} refused this key. Copy it again in full, and check there that it is still active.` };
}

function unreachableProblem({ baseUrl }: ModelChoice, { title, local, baseUrl: defaultUrl }: Provider, error: NetError): Problem {
  const host = hostOf(baseUrl ?? defaultUrl ?? "");
  const field = baseUrl === null && local === undefined ? "provider" : "baseUrl";
  if (error.kind === "blocked" || error.kind === "bad_url") return { field, message: withPeriod(error.message) };
  if (error.kind === "dns") return { field, message: `There is no machine called ${host}. Check the address for typos.` };
  if (local !== undefined)
    return { field, message: `Nothing answers at ${host} from the gateway. Start ${nameOf(title)} there, or correct the address.` };
  return { field, message: `${title} cannot be reached from the gateway. Check that its machine is online, then try again.` };
}

function wrongAddressProblem(baseUrl: string): Problem {
  const path = "It usually ends in /v1.";
  return { field: "baseUrl", message: `${hostOf(baseUrl)} answers, but not like a model server. Check the address. ${path}` };
}

function nameOf(title: string): string {
  return title === "The model server" ? "the model server" : title;
}

function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl.slice(0, 60);
}

function withPeriod(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
