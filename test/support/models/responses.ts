// Encodes a script as a stream of OpenAI's responses API, which OpenAI's own models use.

import { pieces, type Said, type Script, sse, USAGE } from "./script.ts";

export function responsesStream(script: Script): string {
  const usage = script.usage ?? USAGE;
  let sequence = 0;
  const event = (type: string, fields: object) => sse({ type, sequence_number: sequence++, ...fields }, type);
  const response = { id: "resp_1", object: "response", created_at: 1_760_000_000, model: "scripted", status: "in_progress", output: [] };
  let out = event("response.created", { response });
  for (const [output_index, said] of script.say.entries()) {
    const item_id = `item_${output_index}`;
    const at = { item_id, output_index };
    out += event("response.output_item.added", { output_index, item: { ...itemOf(said, item_id), ...emptyFields(said) } });
    if (said.type === "text") {
      for (const delta of pieces(said.text)) out += event("response.output_text.delta", { ...at, content_index: 0, delta, logprobs: [] });
      out += event("response.output_text.done", { ...at, content_index: 0, text: said.text, logprobs: [] });
    } else if (said.type === "thinking") {
      const part = { ...at, summary_index: 0 };
      out += event("response.reasoning_summary_part.added", { ...part, part: { type: "summary_text", text: "" } });
      for (const delta of pieces(said.text)) out += event("response.reasoning_summary_text.delta", { ...part, delta });
      out += event("response.reasoning_summary_part.done", { ...part, part: { type: "summary_text", text: said.text } });
    } else {
      for (const delta of pieces(said.args)) out += event("response.function_call_arguments.delta", { ...at, delta });
      out += event("response.function_call_arguments.done", { ...at, name: said.name, arguments: said.args });
    }
    out += event("response.output_item.done", { output_index, item: itemOf(said, item_id) });
  }
  const isCut = script.stop === "length";
  return (
    out +
    event(isCut ? "response.incomplete" : "response.completed", {
      response: {
        ...response,
        status: isCut ? "incomplete" : "completed",
        incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
        usage: {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: usage.input + usage.output,
        },
      },
    })
  );
}

function itemOf(said: Said, id: string): object {
  if (said.type === "text")
    return {
      id,
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: said.text, annotations: [], logprobs: [] }],
    };
  if (said.type === "thinking")
    return { id, type: "reasoning", encrypted_content: said.signature ?? "c2VhbGVk", summary: [{ type: "summary_text", text: said.text }] };
  return { id, type: "function_call", status: "completed", call_id: said.id ?? "", name: said.name, arguments: said.args };
}

function emptyFields(said: Said): object {
  if (said.type === "text") return { status: "in_progress", content: [] };
  if (said.type === "thinking") return { encrypted_content: "", summary: [] };
  return { status: "in_progress", arguments: "" };
}
