// One attempt at one model: yields events as they arrive and returns the outcome. Never throws.

import { rejectOnAbort } from "../lib/or-aborted.ts";
import type { ModelEvent, ModelRequest, ModelUsage, OutputBlock } from "../ports/models.ts";
import { type Net, NetError } from "../ports/net.ts";
import { AnswerBuilder } from "./answer.ts";
import { type LoadedModels, makeCallOptions } from "./dialects.ts";
import {
  ABORTED,
  streamFailure,
  makeFailure,
  type Failure,
  malformedFailure,
  statusFailure,
  silenceFailure,
  networkFailure,
} from "./failure.ts";
import { type Fetch, makeNetFetch, type Wire } from "./net-fetch.ts";
import type { ModelFacts } from "./catalogue.ts";
import { usedIds } from "./prompt.ts";
import type { Provider } from "./providers.ts";
import { makerId } from "./signature.ts";
import { estimateUsage, computeUsage } from "./usage.ts";
import { type WorkersAi, makeWorkersAiFetch } from "./workers-ai.ts";

export type AttemptServices = {
  models: LoadedModels;
  net: Net;
  workersAi: WorkersAi | undefined;
  newId: () => string;
  now: () => number;
  silenceMs: number;
};

export type Outcome =
  | { ok: true; content: OutputBlock[]; usage: ModelUsage; stop: "end" | "tools" | "length" }
  | { ok: false; content: OutputBlock[]; usage: ModelUsage | null; failure: Failure };

export async function* attempt(
  request: ModelRequest,
  provider: Provider,
  facts: ModelFacts,
  services: AttemptServices,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, Outcome> {
  const maker = makerId(provider.dialect, request.choice.model);
  const answer = new AnswerBuilder(maker, usedIds(request.messages), services.newId);
  const wire: Wire = { isAnswered: false, isSilent: false, error: null, refused: null, release: () => {} };
  const abort = new AbortController();
  const abortAttempt = () => abort.abort(new NetError("aborted", "The run was stopped"));
  signal.addEventListener("abort", abortAttempt, { once: true });
  if (signal.aborted) abortAttempt();
  const usageSoFar = (): ModelUsage | null => {
    if (answer.end !== null) return computeUsage(answer.end.usage, facts.price, request, answer.content);
    // The partial answer is billed, although the provider did not report its usage.
    return answer.isEmpty ? null : estimateUsage(request, answer.content, facts.price);
  };
  const failedOutcome = (cause: Failure): Outcome => ({
    ok: false,
    content: answer.content,
    usage: usageSoFar(),
    failure: cause,
  });
  try {
    const baseUrl = request.choice.baseUrl ?? provider.baseUrl ?? "";
    const fetch = makeFetch(request, provider, services, wire, abort);
    const model = await services.models.load(provider.dialect, request.choice, baseUrl, abort.signal, fetch);
    const started = model.doStream(makeCallOptions(capOutputTokens(request, facts), provider.dialect, maker, abort.signal));
    const { stream } = await rejectOnAbort(Promise.resolve(started), abort.signal);
    const reader = stream.getReader();
    // Rejects if the loop below has stopped reading; nobody else handles it.
    reader.closed.catch(() => {});
    for (let part = await rejectOnAbort(reader.read(), abort.signal); !part.done; part = await rejectOnAbort(reader.read(), abort.signal)) {
      if (part.value.type === "error") throw new ProviderStreamError(part.value.error);
      yield* answer.addPart(part.value);
      // Some servers keep the connection open after the last part.
      if (answer.end !== null) break;
    }
    const end = answer.end;
    if (end === null || end.reason === "none") {
      yield* answer.close(false);
      return failedOutcome(malformedFailure(`The answer from ${provider.title} was cut off`));
    }
    yield* answer.close(end.reason === "stop");
    if (end.reason === "content-filter")
      return failedOutcome(makeFailure("other", `${provider.title} stopped the answer because of its content rules`));
    const { content } = answer;
    const stop = end.reason === "length" ? "length" : content.some(({ type }) => type === "toolCall") ? "tools" : "end";
    return { ok: true, content, usage: computeUsage(end.usage, facts.price, request, content), stop };
  } catch (error) {
    yield* answer.close(false);
    return failedOutcome(signal.aborted ? ABORTED : classifyFailure(error, request, provider, wire, services));
  } finally {
    signal.removeEventListener("abort", abortAttempt);
    if (answer.end === null) abortAttempt();
    else wire.release();
  }
}

/** Providers refuse a limit above the model's own. */
function capOutputTokens(request: ModelRequest, { maxOutput }: ModelFacts): ModelRequest {
  const maxOutputTokens = Math.min(request.choice.maxOutputTokens, maxOutput ?? Infinity);
  return { ...request, choice: { ...request.choice, maxOutputTokens } };
}

/** An error that a provider reports inside a stream, as opposed to what packages throw. */
class ProviderStreamError extends Error {
  constructor(cause: unknown) {
    super("The provider ended the answer early", { cause });
  }
}

function makeFetch(request: ModelRequest, provider: Provider, services: AttemptServices, wire: Wire, abort: AbortController): Fetch {
  const { apiKey } = request.choice;
  if (provider.dialect !== "workers-ai") return makeNetFetch(services.net, apiKey, services.silenceMs, wire, abort);
  return makeWorkersAiFetch(services.workersAi, request, services.silenceMs, wire, abort);
}

function classifyFailure(error: unknown, request: ModelRequest, provider: Provider, wire: Wire, services: AttemptServices): Failure {
  const { choice } = request;
  if (wire.isSilent) return silenceFailure(provider.title, services.silenceMs);
  if (wire.refused !== null)
    return statusFailure(choice, provider.title, wire.refused.status, wire.refused.headers, wire.refused.body, services.now());
  if (wire.error !== null) return networkFailure(provider.title, choice.baseUrl ?? provider.baseUrl ?? "", wire.error, wire.isAnswered);
  if (error instanceof ProviderStreamError) return streamFailure(choice, provider.title, error.cause);
  if (wire.isAnswered) return malformedFailure(`${provider.title} sent an answer that cannot be read`);
  return makeFailure("other", `The request to ${provider.title} could not be made: choose another model, or report this as a bug`);
}
