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

/**
 * Messages as they were last sent: nearly all of a request are those of the request before. Results of tools are not among them,
 * because neighbours share one message.
 */
const promptMessages = new WeakMap<ModelMessage, { how: string; message: LanguageModelV4Message | null }>();

/** `how` is everything that the result depends on besides the message; null if nothing of the message can be sent. */
function promptMessageOf(message: ModelMessage, how: string, make: () => LanguageModelV4Message | null): LanguageModelV4Message | null {
  const known = promptMessages.get(message);
  if (known?.how === how) return known.message;
  const made = make();
  promptMessages.set(message, { how, message: made });
  return made;
}

export function makePrompt(request: ModelRequest, dialect: Dialect, maker: string): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system, ...cacheHint(dialect) });
  const lastUser = request.messages.findLastIndex(({ role }) => role === "user");
  let pictures: LanguageModelV4FilePart[] = [];
  const [how, recentHow] = [`${dialect} ${maker}`, `${dialect} ${maker} recent`];
  for (let at = 0; at < request.messages.length; at++) {
    const message = request.messages[at]!;
    if (message.role === "tool") {
      pictures.push(...addToolResult(prompt, message, dialect));
      continue;
    }
    if (pictures.length > 0) pictures = flushPictures(prompt, pictures);
    const isRecent = at > lastUser;
    const sent = promptMessageOf(message, isRecent ? recentHow : how, () => toPromptMessage(message, dialect, maker, isRecent));
    if (sent !== null) prompt.push(sent);
  }
  flushPictures(prompt, pictures);
  const last = prompt.at(-1);
  // A copy, because messages are used again without the hint.
  if (last !== undefined && last.role !== "system") prompt[prompt.length - 1] = { ...last, ...cacheHint(dialect) };
  return prompt;
}

function toPromptMessage(
  message: Exclude<ModelMessage, { role: "tool" }>,
  dialect: Dialect,
  maker: string,
  isRecent: boolean,
): LanguageModelV4Message | null {
  if (message.role === "user") {
    const content = message.content.flatMap((block) => inputParts(block, dialect));
    return content.length === 0 ? null : { role: "user", content };
  }
  const content = assistantParts(message.content, dialect, maker, isRecent);
  return content.length === 0 ? null : { role: "assistant", content };
}

const toolLists = new WeakMap<readonly ModelTool[], LanguageModelV4FunctionTool[]>();

export function toolsOf(tools: readonly ModelTool[]): LanguageModelV4FunctionTool[] {
  const known = toolLists.get(tools);
  if (known !== undefined) return known;
  const list = tools.map(({ name, description, parameters }): LanguageModelV4FunctionTool => ({
    type: "function",
    name,
    description,
    inputSchema: parameters,
  }));
  toolLists.set(tools, list);
  return list;
}

/** Ids of calls in the history. */
export function usedIds(messages: readonly ModelMessage[]): string[] {
  const ids: string[] = [];
  for (const message of messages)
    if (message.role === "assistant") for (const block of message.content) if (block.type === "toolCall") ids.push(block.id);
  return ids;
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
