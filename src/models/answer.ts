// An answer as it comes: the parts of a provider's stream become events, and the message so far is kept, so that it is
// there whenever the stream ends. Blocks that say nothing never begin.

import type { LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ModelEvent, OutputBlock } from "../ports/models.ts";
import { sign } from "./signature.ts";
import { mendArguments, readArguments } from "./tool-arguments.ts";

type Spoken = {
  kind: "text" | "thinking";
  /** Null until there is something to show. */
  index: number | null;
  text: string;
  metadata: SharedV4ProviderMetadata | undefined;
};
type Called = { index: number; id: string; name: string; raw: string; isEnded: boolean; metadata: SharedV4ProviderMetadata | undefined };
type ToolCall = Extract<OutputBlock, { type: "toolCall" }>;

export type AnswerEnd = { reason: "stop" | "length" | "content-filter" | "none"; usage: LanguageModelV4Usage };

export class Answer {
  readonly #content: OutputBlock[] = [];
  readonly #spoken = new Map<string, Spoken>();
  readonly #called = new Map<string, Called>();
  readonly #usedIds: Set<string>;
  readonly #maker: string;
  readonly #newId: () => string;
  /** Set by the part that ends an answer in good order. */
  end: AnswerEnd | null = null;

  /** `usedIds` are those of earlier calls: some servers count from 0 in every answer. */
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

  take(part: LanguageModelV4StreamPart): ModelEvent[] {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        return this.#open(keyOf(part), part.type === "text-start" ? "text" : "thinking", part.providerMetadata);
      case "text-delta":
      case "reasoning-delta":
        return this.#say(keyOf(part), part.delta, part.providerMetadata);
      case "text-end":
      case "reasoning-end":
        return this.#fallSilent(keyOf(part), part.providerMetadata);
      case "tool-input-start":
        return this.#call(part.id, part.toolName, part.providerMetadata);
      case "tool-input-delta":
        return this.#spell(part.id, part.delta);
      case "tool-call":
        return this.#finishCall(part.toolCallId, part.toolName, part.input, part.providerMetadata);
      case "finish":
        this.end = { reason: reasonOf(part.finishReason), usage: part.usage };
        return [];
      default:
        return [];
    }
  }

  /** What is still open when nothing more will come. Only a whole message lets its calls be mended. */
  close(isWhole: boolean): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const key of this.#spoken.keys()) events.push(...this.#fallSilent(key, undefined, isWhole));
    for (const called of this.#called.values())
      if (!called.isEnded) events.push(this.#endCall(called, isWhole ? mendArguments(called.raw) : null));
    return events;
  }

  /** A block that begins twice is two blocks. */
  #open(key: string, kind: Spoken["kind"], metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const events = this.#fallSilent(key, undefined, false);
    this.#spoken.set(key, { kind, index: null, text: "", metadata });
    return events;
  }

  #say(key: string, delta: string, metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const spoken = this.#spoken.get(key);
    if (spoken === undefined) return [];
    spoken.metadata = merged(spoken.metadata, metadata);
    if (delta === "") return [];
    const events = this.#begin(spoken);
    spoken.text += delta;
    this.#keep(spoken, undefined);
    return [...events, { type: spoken.kind === "text" ? "text_delta" : "thinking_delta", index: spoken.index!, delta }];
  }

  #begin(spoken: Spoken): ModelEvent[] {
    if (spoken.index !== null) return [];
    spoken.index = this.#content.length;
    this.#keep(spoken, undefined);
    return [{ type: spoken.kind === "text" ? "text_start" : "thinking_start", index: spoken.index }];
  }

  /** A signature is kept only of a block that is whole: half a one would be refused with the next request. */
  #fallSilent(key: string, metadata: SharedV4ProviderMetadata | undefined, isWhole = true): ModelEvent[] {
    const spoken = this.#spoken.get(key);
    if (spoken === undefined) return [];
    this.#spoken.delete(key);
    spoken.metadata = merged(spoken.metadata, metadata);
    const signature = isWhole ? sign(this.#maker, spoken.metadata) : undefined;
    if (spoken.index === null && (spoken.kind === "text" || signature === undefined)) return [];
    const events = this.#begin(spoken);
    this.#keep(spoken, signature);
    return [...events, { type: spoken.kind === "text" ? "text_end" : "thinking_end", index: spoken.index! }];
  }

  #keep({ kind, index, text, metadata }: Spoken, signature: string | undefined): void {
    const signed = signature === undefined ? {} : { signature };
    if (kind === "text") this.#content[index!] = { type: "text", text, ...signed };
    else this.#content[index!] = { type: "thinking", thinking: text, ...signed, ...(isRedacted(metadata) ? { redacted: true } : {}) };
  }

  #call(givenId: string, name: string, metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const open = this.#called.get(givenId);
    const events = open === undefined || open.isEnded ? [] : [this.#endCall(open, readArguments(open.raw))];
    const isUsable = givenId.trim() !== "" && !this.#usedIds.has(givenId);
    const id = isUsable ? givenId : this.#newId();
    this.#usedIds.add(id);
    const called: Called = { index: this.#content.length, id, name, raw: "", isEnded: false, metadata };
    this.#called.set(givenId, called);
    this.#content.push({ type: "toolCall", id, name, arguments: null, raw: "" });
    return [...events, { type: "toolcall_start", index: called.index, id, name }];
  }

  #spell(givenId: string, delta: string): ModelEvent[] {
    const called = this.#called.get(givenId);
    if (called === undefined || delta === "") return [];
    called.raw += delta;
    this.#content[called.index] = { type: "toolCall", id: called.id, name: called.name, arguments: null, raw: called.raw };
    return [{ type: "toolcall_delta", index: called.index, delta }];
  }

  /** A call that reads as JSON is at its end. Any other may be one that was cut off, and waits until the message is whole. */
  #finishCall(givenId: string, name: string, input: string, metadata: SharedV4ProviderMetadata | undefined): ModelEvent[] {
    const known = this.#called.get(givenId);
    const events = known === undefined || known.isEnded ? this.#call(givenId, name, metadata) : [];
    const called = this.#called.get(givenId)!;
    called.metadata = merged(called.metadata, metadata);
    if (called.raw === "") events.push(...this.#spell(givenId, input));
    const read = readArguments(called.raw);
    if (read !== null) events.push(this.#endCall(called, read));
    return events;
  }

  #endCall(called: Called, read: ToolCall["arguments"]): ModelEvent {
    called.isEnded = true;
    const signature = read === null ? undefined : sign(this.#maker, called.metadata);
    const call: ToolCall = {
      type: "toolCall",
      id: called.id,
      name: called.name,
      arguments: read,
      ...(read === null ? { raw: called.raw } : {}),
      ...(signature === undefined ? {} : { signature }),
    };
    this.#content[called.index] = call;
    return { type: "toolcall_end", index: called.index, call };
  }
}

/** Some packages number texts and thoughts alike. */
function keyOf(part: { type: string; id: string }): string {
  return `${part.type.startsWith("text") ? "text" : "thinking"} ${part.id}`;
}

function reasonOf({ unified, raw }: { unified: string; raw: string | undefined }): AnswerEnd["reason"] {
  if (unified === "length" || unified === "content-filter") return unified;
  if (unified === "stop" || unified === "tool-calls") return "stop";
  // Packages say "other" also where no reason came, that is, where the stream was cut off.
  return unified === "other" && raw !== undefined ? "stop" : "none";
}

function merged(
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
