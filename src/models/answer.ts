// Turns the parts of a provider's stream into events and accumulates the message, so that it is available whenever the stream
// ends. Empty blocks never start.

import type { LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelEvent, OutputBlock } from "../ports/models.ts";
import { packSignature } from "./signature.ts";
import { repairArguments, readArguments } from "./tool-arguments.ts";

type TextBlock = {
  kind: "text" | "thinking";
  /** Null until there is something to show. */
  index: number | null;
  text: string;
  metadata: SharedV4ProviderMetadata | undefined;
};
type CallBlock = { index: number; id: string; name: string; raw: string; isEnded: boolean; metadata: SharedV4ProviderMetadata | undefined };
type ToolCall = Extract<OutputBlock, { type: "toolCall" }>;

export type AnswerEnd = { reason: "stop" | "length" | "content-filter" | "none"; usage: LanguageModelV4Usage };

export class AnswerBuilder {
  readonly #content: OutputBlock[] = [];
  readonly #textBlocks = new Map<string, TextBlock>();
  readonly #callBlocks = new Map<string, CallBlock>();
  readonly #usedIds: Set<string>;
  readonly #maker: string;
  readonly #newId: () => string;
  /** Set by the part that ends an answer properly. */
  end: AnswerEnd | null = null;

  /** `usedIds` are those of earlier calls: some servers restart their ids in every answer. */
  constructor(maker: string, usedIds: Iterable<string>, newId: () => string) {
    this.#maker = maker;
    this.#usedIds = new Set(usedIds);
    this.#newId = newId;
  }

  get content(): OutputBlock[] {
    return this.#content;
  }

  get isEmpty(): boolean {
    return this.#content.length === 0;
  }

  addPart(part: LanguageModelV4StreamPart): ModelEvent[] {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        return this.#startText(textBlockKey(part), part.type === "text-start" ? "text" : "thinking", part.providerMetadata);
      case "text-delta":
      case "reasoning-delta":
        return this.#appendText(textBlockKey(part), part.delta, part.providerMetadata);
      case "text-end":
      case "reasoning-end":
        return this.#endText(textBlockKey(part), part.providerMetadata);
      case "tool-input-start":
        return this.#startCall(part.id, part.toolName, part.providerMetadata);
      case "tool-input-delta":
        return this.#appendArguments(part.id, part.delta);
      case "tool-call":
        return this.#finishCall(part.toolCallId, part.toolName, part.input, part.providerMetadata);
      case "finish":
        this.end = { reason: toEndReason(part.finishReason), usage: part.usage };
        return [];
      default:
        return [];
    }
  }

  /** Ends the blocks that are still open when the stream has ended. Arguments of calls are repaired only if the message is whole. */
  close(isWhole: boolean): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const key of this.#textBlocks.keys()) events.push(...this.#endText(key, undefined, isWhole));
    for (const callBlock of this.#callBlocks.values())
      if (!callBlock.isEnded) events.push(this.#endCall(callBlock, isWhole ? repairArguments(callBlock.raw) : null));
    return events;
  }

  /** A block that starts twice becomes two blocks. */
  #startText(key: string, kind: TextBlock["kind"], metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const events = this.#endText(key, undefined, false);
    this.#textBlocks.set(key, { kind, index: null, text: "", metadata });
    return events;
  }

  #appendText(key: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const textBlock = this.#textBlocks.get(key);
    if (textBlock === undefined) return [];
    textBlock.metadata = mergeMetadata(textBlock.metadata, metadata);
    if (delta === "") return [];
    const events = this.#emitStart(textBlock);
    textBlock.text += delta;
    this.#storeText(textBlock, undefined);
    return [...events, { type: textBlock.kind === "text" ? "text_delta" : "thinking_delta", index: textBlock.index!, delta }];
  }

  #emitStart(textBlock: TextBlock): ModelEvent[] {
    if (textBlock.index !== null) return [];
    textBlock.index = this.#content.length;
    this.#storeText(textBlock, undefined);
    return [{ type: textBlock.kind === "text" ? "text_start" : "thinking_start", index: textBlock.index }];
  }

  /** Only a whole block keeps its signature: the next request would be refused over a partial one. */
  #endText(key: string, metadata: SharedV4ProviderMetadata | undefined, isWhole = true): ModelEvent[] {
    const textBlock = this.#textBlocks.get(key);
    if (textBlock === undefined) return [];
    this.#textBlocks.delete(key);
    textBlock.metadata = mergeMetadata(textBlock.metadata, metadata);
    const signature = isWhole ? packSignature(this.#maker, textBlock.metadata) : undefined;
    if (textBlock.index === null && (textBlock.kind === "text" || signature === undefined)) return [];
    const events = this.#emitStart(textBlock);
    this.#storeText(textBlock, signature);
    return [...events, { type: textBlock.kind === "text" ? "text_end" : "thinking_end", index: textBlock.index! }];
  }

  #storeText({ kind, index, text, metadata }: TextBlock, signature: string | undefined): void {
    const signed = signature === undefined ? {} : { signature };
    if (kind === "text") this.#content[index!] = { type: "text", text, ...signed };
    else this.#content[index!] = { type: "thinking", thinking: text, ...signed, ...(isRedacted(metadata) ? { redacted: true } : {}) };
  }

  #startCall(givenId: string, name: string, metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const open = this.#callBlocks.get(givenId);
    const events = open === undefined || open.isEnded ? [] : [this.#endCall(open, readArguments(open.raw))];
    const isUsable = givenId.trim() !== "" && !this.#usedIds.has(givenId);
    const id = isUsable ? givenId : this.#newId();
    this.#usedIds.add(id);
    const callBlock: CallBlock = { index: this.#content.length, id, name, raw: "", isEnded: false, metadata };
    this.#callBlocks.set(givenId, callBlock);
    this.#content.push({ type: "toolCall", id, name, arguments: null, raw: "" });
    return [...events, { type: "toolcall_start", index: callBlock.index, id, name }];
  }

  #appendArguments(givenId: string, delta: string): ModelEvent[] {
    const callBlock = this.#callBlocks.get(givenId);
    if (callBlock === undefined || delta === "") return [];
    callBlock.raw += delta;
    this.#content[callBlock.index] = { type: "toolCall", id: callBlock.id, name: callBlock.name, arguments: null, raw: callBlock.raw };
    return [{ type: "toolcall_delta", index: callBlock.index, delta }];
  }

  /** A call whose arguments parse as JSON is complete. Any other may be cut off, and stays open until the end of the message is known. */
  #finishCall(givenId: string, name: string, input: string, metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const known = this.#callBlocks.get(givenId);
    const events = known === undefined || known.isEnded ? this.#startCall(givenId, name, metadata) : [];
    const callBlock = this.#callBlocks.get(givenId)!;
    callBlock.metadata = mergeMetadata(callBlock.metadata, metadata);
    if (callBlock.raw === "") events.push(...this.#appendArguments(givenId, input));
    const read = readArguments(callBlock.raw);
    if (read !== null) events.push(this.#endCall(callBlock, read));
    return events;
  }

  #endCall(callBlock: CallBlock, read: ToolCall["arguments"]): ModelEvent {
    callBlock.isEnded = true;
    const signature = read === null ? undefined : packSignature(this.#maker, callBlock.metadata);
    const call: ToolCall = {
      type: "toolCall",
      id: callBlock.id,
      name: callBlock.name,
      arguments: read,
      ...(read === null ? { raw: callBlock.raw } : {}),
      ...(signature === undefined ? {} : { signature }),
    };
    this.#content[callBlock.index] = call;
    return { type: "toolcall_end", index: callBlock.index, call };
  }
}

/** Some packages use the same ids for texts and thoughts. */
function textBlockKey(part: { type: string; id: string }): string {
  return `${part.type.startsWith("text") ? "text" : "thinking"} ${part.id}`;
}

function toEndReason({ unified, raw }: { unified: string; raw: string | undefined }): AnswerEnd["reason"] {
  if (unified === "length" || unified === "content-filter") return unified;
  if (unified === "stop" || unified === "tool-calls") return "stop";
  // Packages report "other" also without a reason, that is, if the stream was cut off.
  return unified === "other" && raw !== undefined ? "stop" : "none";
}

function mergeMetadata(
  one: SharedV4ProviderMetadata | undefined,
  other: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const both: SharedV4ProviderMetadata = { ...one };
  for (const [provider, fields] of Object.entries(other)) both[provider] = { ...both[provider], ...fields };
  return both;
}

function isRedacted(metadata: SharedV4ProviderMetadata | undefined): boolean {
  return Object.values(metadata ?? {}).some((fields) => fields !== undefined && typeof fields.redactedData === "string");
}
