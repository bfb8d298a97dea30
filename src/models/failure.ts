// Why an attempt failed: its kind, what a person can do about it, and whether a retry may help. Messages are written here and
// quote a provider's own text only where it helps, without anything that looks like a key.

import type { ModelChoice, ModelFailure } from "../ports/models.ts";
import { NetError } from "../ports/net.ts";

export type Failure = ModelFailure & {
  /** A retry may help. */
  isRetryable: boolean;
  /** The provider asks to wait this long. */
  waitMs: number;
};

type Kind = ModelFailure["kind"];

export function makeFailure(kind: Kind, message: string, more: { isRetryable?: boolean; waitMs?: number } = {}): Failure {
  return { kind, message, isRetryable: more.isRetryable ?? false, waitMs: more.waitMs ?? 0 };
}

export const ABORTED: Failure = makeFailure("aborted", "The run was stopped");

/** An HTTP status that is no success. `body` is the text of the response. */
export function statusFailure(choice: ModelChoice, title: string, status: number, headers: Headers, body: string, now: number): Failure {
  const quotation = quote(choice, providerMessage(body));
  const waitMs = retryAfter(headers, now);
  if (status === 402 || (status === 429 && /quota|billing|credit|spend|payment/i.test(body)))
    return makeFailure("other", `${title} says that the account has no credit left${quotation}: add some there, or choose another model`);
  if (status === 429)
    return makeFailure("rate-limited", `${title} limits the rate of requests${quotation}: wait a little, or choose another model`, {
      isRetryable: true,
      waitMs,
    });
  if (status === 413 || (status >= 400 && status < 500 && TOO_LONG.test(body)))
    return makeFailure("too-long", `The conversation is too long for ${choice.model}${quotation}: compact it, or choose another model`);
  if (status === 401 || status === 403) return keyFailure(choice, title, status === 403 ? quotation : "");
  if (status === 404 || (status === 400 && NO_MODEL.test(body)))
    return makeFailure(
      "unknown-model",
      `${title} has no model "${choice.model}"${quotation}: choose another in Settings under AI, or with gsv config set users/<uid>/ai/model <model>`,
    );
  if (status >= 500 || status === 408)
    return makeFailure(
      "overloaded",
      `${title} cannot answer right now (HTTP ${status})${quotation}: try again later, or choose another model`,
      {
        isRetryable: true,
        waitMs,
      },
    );
  return makeFailure("other", `${title} refused the request (HTTP ${status})${quotation}`);
}

export function keyFailure(choice: ModelChoice, title: string, quotation = ""): Failure {
  const what = choice.apiKey === "" ? `${title} needs an API key` : `${title} refused the API key${quotation}`;
  return makeFailure("refused-key", `${what}: set one with gsv config set config/ai/api_key, or only for yourself users/<uid>/ai/api_key`);
}

/** An error in the middle of an answer. Providers report here what an HTTP status would otherwise say. */
export function streamFailure(choice: ModelChoice, title: string, error: unknown): Failure {
  // Text that a package could not parse is never quoted: it may be anything.
  if (error instanceof Error && /JSONParse|TypeValidation|InvalidResponseData/.test(error.name))
    return malformedFailure(`${title} sent an answer that cannot be read`);
  const text = errorToText(error);
  const quotation = quote(choice, providerMessage(text));
  if (/overloaded|unavailable|capacity|internal|server_error|api_error|timeout|\b5\d\d\b/i.test(text))
    return makeFailure("overloaded", `${title} stopped its answer early${quotation}: try again later, or choose another model`, {
      isRetryable: true,
    });
  if (/rate.?limit|too many requests|\b429\b/i.test(text))
    return makeFailure("rate-limited", `${title} limits the rate of requests${quotation}: wait a little`, { isRetryable: true });
  if (TOO_LONG.test(text))
    return makeFailure("too-long", `The conversation is too long for ${choice.model}${quotation}: compact it, or choose another model`);
  return malformedFailure(`${title} sent an answer that cannot be read${quotation}`);
}

export function malformedFailure(what: string): Failure {
  return makeFailure("malformed", `${what}: try again, or choose another model`, { isRetryable: true });
}

export function silenceFailure(title: string, ms: number): Failure {
  return makeFailure("silent", `${title} sent nothing for ${Math.round(ms / 1000)} s: try again, or choose another model`, {
    isRetryable: true,
  });
}

/** No response at all, or one that the network cut off: then `isAnswered`. */
export function networkFailure(title: string, baseUrl: string, error: NetError, isAnswered: boolean): Failure {
  if (error.kind === "aborted") return ABORTED;
  if (error.kind === "blocked") return makeFailure("unreachable", `${error.message}. ${allowHostAdvice(baseUrl)}`);
  if (isAnswered) return malformedFailure(`The answer from ${title} was cut off`);
  const isRetryable = error.kind !== "bad_url" && error.kind !== "too_large";
  return makeFailure("unreachable", `${title} cannot be reached: ${error.message}`, { isRetryable });
}

function allowHostAdvice(baseUrl: string): string {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
  return `If ${host} is your own model server, root can allow it with gsv config set config/net/allowed_hosts ${host}`;
}

/** The wait that the response asks for, in milliseconds; given in seconds or as a date. */
export function retryAfter(headers: Headers, now: number): number {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return exact;
  const given = headers.get("retry-after");
  if (given === null) return 0;
  const seconds = Number(given);
  const ms = Number.isNaN(seconds) ? Date.parse(given) - now : seconds * 1000;
  return ms > 0 ? ms : 0;
}

const TOO_LONG =
  /context.{0,12}(length|window|size)|maximum context|too (long|large)|too many (input )?tokens|token count.{0,40}exceeds|exceeds? the (available|maximum) context|request_too_large/i;
const NO_MODEL = /model.{0,40}(not (found|exist|supported)|does not exist|invalid|unknown)|(not a valid|invalid|unknown|no such) model/i;

/** The provider's own message, from the shapes that errors come in. */
function providerMessage(body: string): string {
  try {
    const value: unknown = JSON.parse(body);
    return messageIn(value) ?? "";
  } catch {
    return body.startsWith("<") ? "" : body;
  }
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return messageIn(value[0]);
  if (typeof value !== "object" || value === null) return undefined;
  const { error, message, detail, response } = value as Record<string, unknown>;
  return messageIn(error) ?? messageIn(message) ?? messageIn(detail) ?? messageIn(response);
}

function errorToText(error: unknown): string {
  if (typeof error === "string") return error;
  try {
    const shown = error instanceof Error ? { ...Object.fromEntries(Object.entries(error)), message: error.message } : error;
    return JSON.stringify(shown) ?? "";
  } catch {
    return error instanceof Error ? error.message : "";
  }
}

const QUOTED_CHARS = 300;

/** In parentheses and without secrets, or empty. */
function quote(choice: ModelChoice, words: string): string {
  let text = words.replaceAll(/\s+/g, " ").trim();
  if (choice.apiKey.length > 3) text = text.replaceAll(choice.apiKey, "...");
  text = text.replaceAll(/\b(sk|pk|key|gsk|xai|AIza|Bearer)[-_ ]?[\w*.-]{6,}/g, "...");
  if (text === "") return "";
  return ` ("${text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS)}...` : text}")`;
}
