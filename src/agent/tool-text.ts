// What a model is told of a tool's result. Files and output come as they are, since a model edits by exact text and every
// escape misleads it; other values come as compact JSON. Of too much, the beginning and the end are given, with a line between
// them that says where all of it is.

import { fromBase64 } from "../lib/base64.ts";

export type ToolImage = { mimeType: string; data: Uint8Array };
export type ToolText = { text: string; images: ToolImage[]; isError: boolean };

/** A call's answer, or why there is none. */
export type ToolOutcome = { ok: true; data: unknown } | { ok: false; error: { message: string; details?: unknown } };

type Data = Record<string, unknown>;

export function toolText(outcome: ToolOutcome): ToolText {
  if (!outcome.ok) return failed(outcome.error.message, isUnknown(outcome.error.details));
  const { data } = outcome;
  if (typeof data === "string") return said(data);
  if (!isData(data)) return said(JSON.stringify(data) ?? "null");
  if (data.ok === false && typeof data.error === "string") return failed(data.error, false);
  if (typeof data.status === "string" && typeof data.output === "string") return command(data, data.output);
  if (data.ok === true && typeof data.content === "string") return said(file(data, data.content));
  if (data.ok === true && Array.isArray(data.content)) return blocks(data.content.filter(isData));
  return said(JSON.stringify(data));
}

/** Said of a call whose result nobody can know any more. */
export const UNKNOWN_OUTCOME =
  "The outcome is unknown: it may have been done, in whole or in part. Look at what is there before you do it again.";

export type CapLimits = { perCallChars: number; perTurnChars: number };

export const CAP_LIMITS: CapLimits = { perCallChars: 40_000, perTurnChars: 120_000 };
/** However much others of the turn have taken, so much of a result says what it is about. */
const LEAST_CHARS = 2_000;
/** A failure is told at the end, and what led to it at the beginning. */
const HEAD_SHARE = 0.6;

/** How much of the next result may enter history, when `used` is what the turn's earlier ones took and `waiting` counts it and those still to come. */
export function allowance(used: number, waiting: number, { perCallChars, perTurnChars }: CapLimits = CAP_LIMITS): number {
  const share = Math.floor((perTurnChars - used) / Math.max(1, waiting));
  return Math.min(perCallChars, Math.max(LEAST_CHARS, share));
}

/** At most `chars` of a text and the note; `restAt` is the path all of it was kept at, or null where it is nowhere. */
export function capped(text: string, chars: number, restAt: string | null): { text: string; isCut: boolean } {
  if (text.length <= chars) return { text, isCut: false };
  const head = wholeLines(text.slice(0, Math.floor(chars * HEAD_SHARE)), "end");
  const tail = wholeLines(text.slice(text.length - Math.floor(chars * (1 - HEAD_SHARE))), "start");
  const missing = text.length - head.length - tail.length;
  const where = restAt === null ? "ask for less at once" : `all of it is in ${restAt} on gsv: use Search or Read with offset and limit`;
  return { text: `${head}\n[... ${missing} of ${text.length} characters left out; ${where} ...]\n${tail}`, isCut: true };
}

function said(text: string): ToolText {
  return { text, images: [], isError: false };
}

function failed(message: string, isUnknown: boolean): ToolText {
  return { text: `Error: ${message}${isUnknown ? `\n${UNKNOWN_OUTCOME}` : ""}`, images: [], isError: true };
}

function isUnknown(details: unknown): boolean {
  return isData(details) && details.outcome === "unknown";
}

function file({ more, lines, size }: Data, content: string): string {
  if (content === "") return size === 0 ? "[The file is empty]" : "[No lines here]";
  return more === true ? `${content}\n[More lines follow these ${String(lines)}: read on with offset]` : content;
}

function blocks(content: readonly Data[]): ToolText {
  const images: ToolImage[] = [];
  const texts = content.map(({ type, text, data, mimeType }) => {
    if (type === "text" && typeof text === "string") return text;
    const image = imageOf(mimeType, data);
    if (image === null) return "[Something that can be shown neither as text nor as a picture]";
    images.push(image);
    return "";
  });
  return { text: texts.filter((text) => text !== "").join("\n"), images, isError: false };
}

/** What providers take. One they refuse would stay in history and be refused with every call from then on. */
const IMAGES: Record<string, readonly number[]> = {
  "image/png": [0x89, 0x50, 0x4e, 0x47],
  "image/jpeg": [0xff, 0xd8, 0xff],
  "image/gif": [0x47, 0x49, 0x46, 0x38],
  "image/webp": [0x52, 0x49, 0x46, 0x46],
};

/** A device may say anything of its files, so it is seen whether a picture begins as one. */
function imageOf(mimeType: unknown, data: unknown): ToolImage | null {
  if (typeof mimeType !== "string" || typeof data !== "string" || !Object.hasOwn(IMAGES, mimeType)) return null;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data) || data.length % 4 !== 0) return null;
  const bytes = fromBase64(data);
  return IMAGES[mimeType]!.every((byte, at) => bytes[at] === byte) ? { mimeType, data: bytes } : null;
}

function command({ status, exitCode, sessionId, error, wantsInput }: Data, output: string): ToolText {
  const shown = output === "" || output.endsWith("\n") ? output : `${output}\n`;
  if (status === "running") {
    const waits = wantsInput === true ? " and waits for input" : "";
    return said(`${shown}[Still running${waits}; sessionId ${String(sessionId)}]`);
  }
  if (status === "completed") return said(`${shown}[Exit code ${String(exitCode)}]`);
  return { text: `${shown}Error: ${typeof error === "string" ? error : "the command failed"}`, images: [], isError: true };
}

/** A line cut in two is left out, unless it is long enough to matter by itself; a character is never cut in two. */
function wholeLines(text: string, cutAt: "start" | "end"): string {
  const [before, after] = [text.lastIndexOf("\n"), text.indexOf("\n")];
  if (cutAt === "end") return before > text.length / 2 ? text.slice(0, before) : text.replace(/[\uD800-\uDBFF]$/, "");
  return after !== -1 && after < text.length / 2 ? text.slice(after + 1) : text.replace(/^[\uDC00-\uDFFF]/, "");
}

function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
