// A request in the types of the providers' packages. Leaves out what would make a provider refuse the whole request: empty texts,
// thoughts that are not its own, thoughts with nothing after them, ids it does not accept.

import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import type { InputBlock, ModelMessage, ModelRequest, ModelTool, OutputBlock } from "../ports/models.ts";
import type { Dialect } from "./providers.ts";
import { unpackSignature } from "./signature.ts";

type Assistant = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Tool = Extract<LanguageModelV4Message, { role: "tool" }>;

export function makePrompt(request: ModelRequest, dialect: Dialect, maker: string): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system, ...cacheHint(dialect) });
  const lastUser = request.messages.findLastIndex(({ role }) => role === "user");
  let pictures: LanguageModelV4FilePart[] = [];
  for (const [at, message] of request.messages.entries()) {
    if (message.role !== "tool") pictures = flushPictures(prompt, pictures);
    if (message.role === "user") {
      const content = message.content.flatMap((block) => inputParts(block, dialect));
      if (content.length > 0) prompt.push({ role: "user", content });
    } else if (message.role === "assistant") {
      const content = assistantParts(message.content, dialect, maker, at > lastUser);
      if (content.length > 0) prompt.push({ role: "assistant", content });
    } else pictures.push(...addToolResult(prompt, message, dialect));
  }
  flushPictures(prompt, pictures);
  const last = prompt.at(-1);
  if (last !== undefined && last.role !== "system") Object.assign(last, cacheHint(dialect));
  return prompt;
}

export function toolsOf(tools: readonly ModelTool[]): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({ type: "function", name, description, inputSchema: parameters }));
}

/** Ids of calls in the history. */
export function usedIds(messages: readonly ModelMessage[]): string[] {
  return messages.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [],
  );
}

/**
 * True if the model is in the middle of its tool calls but its thoughts on them are missing, because another model had them.
 * Anthropic refuses such a history while thinking is on.
 */
export function isThoughtMissing({ messages }: ModelRequest, maker: string): boolean {
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(lastUser + 1).some((message) => {
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === "toolCall")) return false;
    return !message.content.some((block) => block.type === "thinking" && unpackSignature(maker, block.signature) !== undefined);
  });
}

/** Marks what Anthropic is to cache; other providers cache by themselves. */
function cacheHint(dialect: Dialect): Pick<LanguageModelV4Message, "providerOptions"> {
  return dialect === "anthropic" ? { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } } : {};
}

function inputParts(block: InputBlock, dialect: Dialect): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  if (block.type === "text") return block.text === "" ? [] : [{ type: "text", text: block.text }];
  if (dialect === "workers-ai") return [{ type: "text", text: `[An image of type ${block.mimeType}, which this model cannot see]` }];
  return [{ type: "file", mediaType: block.mimeType, data: { type: "data", data: block.data } }];
}

function assistantParts(content: readonly OutputBlock[], dialect: Dialect, maker: string, isRecent: boolean): Assistant["content"] {
  const parts: Assistant["content"] = [];
  for (const block of content) {
    const own = unpackSignature(maker, block.signature);
    const options = own === undefined ? {} : { providerOptions: own };
    if (block.type === "text") {
      if (block.text !== "") parts.push({ type: "text", text: block.text, ...options });
    } else if (block.type === "toolCall")
      // Arguments that could not be parsed are quoted by the error that answers the call; the call itself needs an object.
      parts.push({ type: "tool-call", toolCallId: wireId(block.id), toolName: block.name, input: block.arguments ?? {}, ...options });
    else if (own !== undefined || (dialect === "compatible" && isRecent && block.thinking !== ""))
      parts.push({ type: "reasoning", text: block.thinking, ...options });
  }
  while (parts.at(-1)?.type === "reasoning") parts.pop();
  return parts;
}

/** Returns the pictures that a tool result cannot hold in this dialect: they follow as a user message. */
function addToolResult(
  prompt: LanguageModelV4Prompt,
  message: Extract<ModelMessage, { role: "tool" }>,
  dialect: Dialect,
): LanguageModelV4FilePart[] {
  const parts = message.content.flatMap((block) => inputParts(block, dialect));
  const pictures = parts.filter((part) => part.type === "file");
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const holdsPictures = dialect === "openai" || dialect === "anthropic" || dialect === "google";
  let output: LanguageModelV4ToolResultOutput;
  if (message.isError) output = { type: "error-text", value: text === "" ? "The call failed" : text };
  else if (pictures.length > 0 && holdsPictures)
    output = { type: "content", value: parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : part)) };
  else output = { type: "text", value: text };
  const result: Tool["content"][number] = {
    type: "tool-result",
    toolCallId: wireId(message.callId),
    toolName: message.toolName,
    output,
  };
  const last = prompt.at(-1);
  if (last?.role === "tool") last.content.push(result);
  else prompt.push({ role: "tool", content: [result] });
  return holdsPictures || message.isError ? [] : pictures;
}

function flushPictures(prompt: LanguageModelV4Prompt, pictures: LanguageModelV4FilePart[]): LanguageModelV4FilePart[] {
  if (pictures.length > 0)
    prompt.push({ role: "user", content: [{ type: "text", text: "Images from the tool results above:" }, ...pictures] });
  return [];
}

/** Only characters that every provider accepts, and no more than the strictest allows. The same id always maps to the same result. */
function wireId(id: string): string {
  const plain = id.replaceAll(/[^\w-]/g, "_");
  return plain.length <= 64 ? plain : `${plain.slice(0, 40)}${plain.slice(-24)}`;
}
