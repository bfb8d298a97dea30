// The archive format: gzip of JSON lines, each a whole message. Reading returns exactly what was written, signatures included;
// fields the wire format lacks are stored beside it under names of their own.

import { concat } from "../../lib/bytes.ts";
import type { OutputBlock } from "../../ports/models.ts";
import type { ScriptCallList } from "../../protocol/proc-records.ts";
import type { CallOutcome } from "../rows/calls.ts";
import type { Message, StoredMedia } from "../rows/history.ts";
import { fromWireParts, toWireParts, type WireThinking, type WireToolCall } from "./wire-message.ts";

type ArchiveLine = {
  id: number;
  conversation_id: string;
  generation: number;
  role: Message["role"];
  content: string;
  media?: StoredMedia[] | undefined;
  /** Of a result: the call it belongs to. */
  tool_calls?: WireToolCall[] | ArchivedResult | undefined;
  thinking?: WireThinking[] | undefined;
  tool_call_id?: string | undefined;
  script_calls?: ScriptCallList | undefined;
  ts: number;
  run_id?: string | undefined;
  model?: string | undefined;
  stopped?: true | undefined;
  /** Set if the parts above would not restore the original order of the blocks. */
  blocks?: OutputBlock[] | undefined;
};

type ArchivedResult = { toolName: string; isError: boolean; outcome?: CallOutcome; durationMs?: number };

export type GenerationId = { conversationId: string; generation: number };

export function toArchiveLine(message: Message, of: GenerationId): string {
  const { id, role, createdAt: ts, runId } = message;
  const line = { id, conversation_id: of.conversationId, generation: of.generation, role, ...buildArchiveFields(message), ts };
  return JSON.stringify({ ...line, run_id: runId ?? undefined } satisfies ArchiveLine);
}

/** The same for people and other programs, without the fields that only a process needs to restore it. */
export function toChatLine(message: Message): string {
  const { content, media, tool_calls, thinking, tool_call_id } = buildArchiveFields(message);
  return JSON.stringify({ role: message.role, content, media, tool_calls, thinking, tool_call_id, ts: message.createdAt });
}

function buildArchiveFields(message: Message): Pick<ArchiveLine, "content"> & Partial<ArchiveLine> {
  switch (message.role) {
    case "user":
      return { content: message.text, media: message.media };
    case "system":
      return { content: message.text };
    case "toolResult": {
      const { output, images, tool, isError, callId, outcome, durationMs, scriptCalls } = message;
      const result = { toolName: tool, isError, ...(outcome && { outcome }), ...(durationMs === undefined ? {} : { durationMs }) };
      return { content: output, media: images, tool_calls: result, tool_call_id: callId, script_calls: scriptCalls };
    }
    case "assistant": {
      const { blocks, model, stopped } = message;
      const parts = toWireParts(blocks);
      const isInOrder = isSame(blocks, fromWireParts(parts));
      return {
        content: parts.text,
        thinking: parts.thinking.length === 0 ? undefined : parts.thinking,
        tool_calls: parts.toolCalls.length === 0 ? undefined : parts.toolCalls,
        model,
        stopped,
        blocks: isInOrder ? undefined : blocks,
      };
    }
  }
}

/** A message of an archive, with its original id. */
export function fromArchiveLine(line: string): Message {
  const {
    id,
    ts,
    run_id,
    role,
    content,
    media,
    tool_calls,
    thinking = [],
    tool_call_id,
    script_calls,
    model,
    stopped,
    blocks,
  } = JSON.parse(line) as ArchiveLine;
  const known = { id, createdAt: ts, runId: run_id ?? null };
  switch (role) {
    case "user":
      return { ...known, role, text: content, ...(media === undefined ? {} : { media }) };
    case "system":
      return { ...known, role, text: content };
    case "toolResult": {
      const { toolName: tool, ...how } = tool_calls as ArchivedResult;
      const images = media === undefined ? {} : { images: media };
      const scriptCalls = script_calls === undefined ? {} : { scriptCalls: script_calls };
      return { ...known, role, callId: tool_call_id ?? "", tool, ...how, output: content, ...images, ...scriptCalls };
    }
    case "assistant": {
      const toolCalls = (tool_calls ?? []) as WireToolCall[];
      const restored = blocks ?? fromWireParts({ text: content, thinking, toolCalls });
      return { ...known, role, blocks: restored, ...(model === undefined ? {} : { model }), ...(stopped && { stopped }) };
    }
  }
}

export async function toArchive(messages: Iterable<Message>, of: GenerationId): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const lines = new ReadableStream<BufferSource>({
    start(controller) {
      for (const message of messages) controller.enqueue(encoder.encode(`${toArchiveLine(message, of)}\n`));
      controller.close();
    },
  });
  return collectBytes(lines.pipeThrough(new CompressionStream("gzip")));
}

export async function fromArchive(bytes: Uint8Array): Promise<Message[]> {
  return (await readArchiveLines(bytes)).map(fromArchiveLine);
}

/** Each is a message as JSON. */
export async function readArchiveLines(bytes: Uint8Array): Promise<string[]> {
  const compressed = new ReadableStream<BufferSource>({
    start(controller) {
      controller.enqueue(bytes as Uint8Array<ArrayBuffer>);
      controller.close();
    },
  });
  const text = new TextDecoder().decode(await collectBytes(compressed.pipeThrough(new DecompressionStream("gzip"))));
  return text.split("\n").filter((line) => line !== "");
}

async function collectBytes(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) parts.push(value!);
  return concat(parts);
}

function isSame(one: readonly OutputBlock[], other: readonly OutputBlock[]): boolean {
  return JSON.stringify(one.map(sortedEntries)) === JSON.stringify(other.map(sortedEntries));
}

function sortedEntries(block: OutputBlock): unknown {
  return Object.entries(block).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

export function segmentPath(root: string, conversationId: string, archiveId: string): string {
  return `${root}/conversations/${archiveNameOf(conversationId)}/${archiveId}.jsonl.gz`;
}

export function resetArchivePath(root: string, { conversationId, generation }: GenerationId, archiveId: string): string {
  return `${root}/${archiveId}/${archiveNameOf(conversationId)}.gen-${generation}.jsonl.gz`;
}

/** The conversation (`archiveNameOf`) whose archive a reset of the whole process has given this file name. */
export function findNameOfResetArchive(fileName: string): string | undefined {
  // A conversation may itself be called like an archive: the whole name counts, and its last part is the generation.
  return /^(.+)\.gen-\d+\.jsonl\.gz$/.exec(fileName)?.[1];
}

/** In file names: a conversation id may be any text, including one such as "..". */
export function archiveNameOf(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replace(/^\.+$/, (dots) => dots.replaceAll(".", "%2E"));
}
