// What a provider received, in any wire format: who said what, which calls were made, and their results. Also whether a real
// provider would accept it: every call is followed by its one result before anything else is said.

import type { Asked } from "../../support/models/provider.ts";

export type Heard =
  | { type: "user" | "assistant"; text: string }
  | { type: "call"; id: string; name: string; args: Record<string, unknown> }
  | { type: "result"; id: string; text: string };

type Data = Record<string, unknown>;

export function heard({ path, body }: Pick<Asked, "path" | "body">): Heard[] {
  if (path.endsWith("/chat/completions")) return listOf(body.messages).flatMap(chat);
  if (path.endsWith("/responses")) return listOf(body.input).flatMap(responses);
  if (path.endsWith("/messages")) return listOf(body.messages).flatMap(anthropic);
  return google(listOf(body.contents));
}

/** What is out of order, or null. */
export function disorder(said: readonly Heard[]): string | null {
  let open: string[] = [];
  let isAnswering = false;
  for (const one of said) {
    if (one.type === "call") {
      if (isAnswering && open.length > 0) return `${open.join(", ")} had no result when ${one.id} was called`;
      if (open.includes(one.id)) return `${one.id} was called twice at once`;
      isAnswering = false;
      open.push(one.id);
    } else if (one.type === "result") {
      if (!open.includes(one.id)) return `a result of ${one.id}, which was not called or has one`;
      isAnswering = true;
      open = open.filter((id) => id !== one.id);
    } else if (open.length > 0) return `${open.join(", ")} had no result when the ${one.type} spoke`;
  }
  return open.length > 0 ? `${open.join(", ")} has no result` : null;
}

function chat({ role, content, tool_calls, tool_call_id }: Data): Heard[] {
  if (role === "tool") return [{ type: "result", id: String(tool_call_id), text: textOf(content) }];
  if (role !== "user" && role !== "assistant") return [];
  const calls = listOf(tool_calls).map(({ id, function: of }): Heard => {
    const { name, arguments: args } = of as Data;
    return { type: "call", id: String(id), name: String(name), args: JSON.parse(String(args)) as Data };
  });
  return [...words(role, content), ...calls];
}

function responses({ type, role, content, call_id, name, arguments: args, output }: Data): Heard[] {
  if (type === "function_call") return [{ type: "call", id: String(call_id), name: String(name), args: JSON.parse(String(args)) as Data }];
  if (type === "function_call_output") return [{ type: "result", id: String(call_id), text: textOf(output) }];
  return role === "user" || role === "assistant" ? words(role, content) : [];
}

function anthropic({ role, content }: Data): Heard[] {
  if (!Array.isArray(content)) return words(role as "user", content);
  return listOf(content).flatMap((block): Heard[] => {
    if (block.type === "tool_use") return [{ type: "call", id: String(block.id), name: String(block.name), args: block.input as Data }];
    if (block.type === "tool_result") return [{ type: "result", id: String(block.tool_use_id), text: textOf(block.content) }];
    return words(role as "user", [block]);
  });
}

/** Gemini matches results by their order where calls have no id. */
function google(contents: readonly Data[]): Heard[] {
  let calls = 0;
  let results = 0;
  return contents.flatMap(({ role, parts }) =>
    listOf(parts).flatMap((part): Heard[] => {
      const { functionCall, functionResponse } = part as { functionCall?: Data; functionResponse?: Data };
      if (functionCall !== undefined)
        return [{ type: "call", id: `call ${++calls}`, name: String(functionCall.name), args: (functionCall.args ?? {}) as Data }];
      if (functionResponse !== undefined)
        return [{ type: "result", id: `call ${++results}`, text: JSON.stringify(functionResponse.response) }];
      return words(role === "model" ? "assistant" : "user", [part]);
    }),
  );
}

function words(type: "user" | "assistant", content: unknown): Heard[] {
  const text = textOf(content);
  return text === "" ? [] : [{ type, text }];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

function listOf(value: unknown): Data[] {
  return Array.isArray(value) ? (value as Data[]) : [];
}
