// Renders the result of a tool for the model. Files and outputs are shown unchanged, because a model edits by exact text and
// every escape misleads it; other values become compact JSON. A long result is cut to its beginning and its end, with a line
// between them that says where the whole is.

import { fromBase64 } from "../lib/base64.ts";

export type ToolImage = { mimeType: string; data: Uint8Array };
export type ToolText = { text: string; images: ToolImage[]; isError: boolean };

/** A call's result, or why there is none. */
export type ToolOutcome = { ok: true; data: unknown } | { ok: false; error: { message: string; details?: unknown } };

type Data = Record<string, unknown>;

export function renderToolOutcome(outcome: ToolOutcome): ToolText {
  if (!outcome.ok) return makeErrorToolText(outcome.error.message, hasUnknownOutcome(outcome.error.details));
  const { data } = outcome;
  if (typeof data === "string") return makePlainToolText(data);
  if (!isData(data)) return makePlainToolText(JSON.stringify(data) ?? "null");
  if (data.ok === false && typeof data.error === "string") return makeErrorToolText(data.error, false);
  if (typeof data.status === "string" && typeof data.output === "string") return commandText(data, data.output);
  // A script: the whole result, with what it logged.
  if (data.status === "failed" && typeof data.error === "string") return { text: JSON.stringify(data), images: [], isError: true };
  if (data.ok === true && typeof data.content === "string") return makePlainToolText(fileText(data, data.content));
  if (data.ok === true && Array.isArray(data.content)) return blocksText(data.content.filter(isData));
  return makePlainToolText(JSON.stringify(data));
}

/** For a call whose result cannot be known any more. */
export const UNKNOWN_OUTCOME =
  "The outcome is unknown: it may have run, completely or in part. Check what happened before you do it again.";

export type CapLimits = { perCallChars: number; perTurnChars: number };

export const CAP_LIMITS: CapLimits = { perCallChars: 40_000, perTurnChars: 120_000 };
/** Every result gets at least this much, whatever the others of the turn have used: enough to see what it is about. */
const RESULT_CHARS_MIN = 2_000;
/** A failure usually shows at the end of an output, and its cause at the beginning. */
const HEAD_SHARE = 0.6;

/**
 * How much of the next result may enter the history; `used` is what the earlier results of the turn took, and `waiting` counts
 * this one and those to come.
 */
export function maxResultChars(used: number, waiting: number, { perCallChars, perTurnChars }: CapLimits = CAP_LIMITS): number {
  const share = Math.floor((perTurnChars - used) / Math.max(1, waiting));
  return Math.min(perCallChars, Math.max(RESULT_CHARS_MIN, share));
}

/** At most `chars` of a text plus a note; `restAt` is the path of the whole text, or null if it was not stored. */
export function capText(text: string, chars: number, restAt: string | null): { text: string; isCut: boolean } {
  if (text.length <= chars) return { text, isCut: false };
  const head = keepWholeLines(text.slice(0, Math.floor(chars * HEAD_SHARE)), "end");
  const tail = keepWholeLines(text.slice(text.length - Math.floor(chars * (1 - HEAD_SHARE))), "start");
  const missing = text.length - head.length - tail.length;
  const where = restAt === null ? "ask for less at once" : `all of it is in ${restAt} on gsv: use Search or Read with offset and limit`;
  return { text: `${head}\n[... ${missing} of ${text.length} characters left out; ${where} ...]\n${tail}`, isCut: true };
}

function makePlainToolText(text: string): ToolText {
  return { text, images: [], isError: false };
}

function makeErrorToolText(message: string, isUnknown: boolean): ToolText {
  return { text: `Error: ${message}${isUnknown ? `\n${UNKNOWN_OUTCOME}` : ""}`, images: [], isError: true };
}

function hasUnknownOutcome(details: unknown): boolean {
  return isData(details) && details.outcome === "unknown";
}

function fileText({ more, lines, size }: Data, content: string): string {
  if (content === "") return size === 0 ? "[The file is empty]" : "[No lines here]";
  return more === true ? `${content}\n[More lines follow these ${String(lines)}: continue with offset]` : content;
}

function blocksText(content: readonly Data[]): ToolText {
  const images: ToolImage[] = [];
  const texts = content.map(({ type, text, data, mimeType }) => {
    if (type === "text" && typeof text === "string") return text;
    const image = toVerifiedImage(mimeType, data);
    if (image === null) return "[Content that cannot be shown as text or as a picture]";
    images.push(image);
    return "";
  });
  return { text: texts.filter((text) => text !== "").join("\n"), images, isError: false };
}

/** The formats providers accept. A refused picture would stay in the history and fail every later call. */
const IMAGES: Record<string, readonly number[]> = {
  "image/png": [0x89, 0x50, 0x4e, 0x47],
  "image/jpeg": [0xff, 0xd8, 0xff],
  "image/gif": [0x47, 0x49, 0x46, 0x38],
  "image/webp": [0x52, 0x49, 0x46, 0x46],
};

/** A device may claim any type for its files, so the first bytes are checked. */
function toVerifiedImage(mimeType: unknown, data: unknown): ToolImage | null {
  if (typeof mimeType !== "string" || typeof data !== "string" || !Object.hasOwn(IMAGES, mimeType)) return null;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data) || data.length % 4 !== 0) return null;
  const bytes = fromBase64(data);
  return IMAGES[mimeType]!.every((byte, at) => bytes[at] === byte) ? { mimeType, data: bytes } : null;
}

function commandText({ status, exitCode, sessionId, error, wantsInput }: Data, output: string): ToolText {
  const shown = output === "" || output.endsWith("\n") ? output : `${output}\n`;
  if (status === "running") {
    const waits = wantsInput === true ? " and waiting for input" : "";
    return makePlainToolText(`${shown}[Still running${waits}; sessionId ${String(sessionId)}]`);
  }
  if (status === "completed") return makePlainToolText(`${shown}[Exit code ${String(exitCode)}]`);
  return { text: `${shown}Error: ${typeof error === "string" ? error : "the command failed"}`, images: [], isError: true };
}

/** Drops a line that was cut in two, unless that would drop half of the text; never splits a character. */
function keepWholeLines(text: string, cutAt: "start" | "end"): string {
  const [before, after] = [text.lastIndexOf("\n"), text.indexOf("\n")];
  if (cutAt === "end") return before > text.length / 2 ? text.slice(0, before) : text.replace(/[\uD800-\uDBFF]$/, "");
  return after !== -1 && after < text.length / 2 ? text.slice(after + 1) : text.replace(/^[\uDC00-\uDFFF]/, "");
}

function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
