// Finds a request's position in a conversation from its body, in any of the four wire formats: the last message of a person, and
// how often the model has answered since. A repeated request has the same position, whenever it arrives.

export type Exchange = { prompt: string; position: number };

type Json = Record<string, unknown>;
type Kind = "person" | "model" | "other";

/**
 * The message that holds pictures in wire formats whose tool results cannot: it follows the results, as the user's
 * (src/models/prompt.ts).
 */
const PICTURES_PREFACE = "Images from the tool results above:";

export function exchangeOf(body: Json): Exchange {
  const messages = (body.messages ?? body.input ?? body.contents ?? []) as Json[];
  const kinds = messages.map(kindOf);
  const last = kinds.lastIndexOf("person");
  const since = kinds.slice(last + 1);
  // One answer may be several items, such as thinking, text and calls in the responses format.
  const position = since.filter((kind, at) => kind === "model" && since[at - 1] !== "model").length;
  return { prompt: last === -1 ? "" : textOf(messages[last]!), position };
}

function kindOf(message: Json): Kind {
  if (message.role === "assistant" || message.role === "model") return "model";
  if (message.type === "function_call" || message.type === "reasoning") return "model";
  if (message.role === "tool" || message.type === "function_call_output") return "other";
  if (message.role === "system" || message.role === "developer") return "other";
  const parts = partsOf(message);
  const areResults = parts.length > 0 && parts.every((part) => part.type === "tool_result" || "functionResponse" in part);
  return areResults || textOf(message) === PICTURES_PREFACE ? "other" : "person";
}

function textOf(message: Json): string {
  return partsOf(message)
    .map((part) => (typeof part.text === "string" ? part.text : ""))
    .join("");
}

function partsOf(message: Json): Json[] {
  const content = message.content ?? message.parts;
  return typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as Json[]);
}
