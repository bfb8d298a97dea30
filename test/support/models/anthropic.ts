// Encodes a script as a stream of Anthropic's messages API.

import { isCalling, pieces, type Script, sse, USAGE } from "./script.ts";

export function anthropicStream(script: Script): string {
  const usage = script.usage ?? USAGE;
  const event = (type: string, fields: object = {}) => sse({ type, ...fields }, type);
  const cacheRead = usage.cacheRead ?? 0;
  let out = event("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "scripted",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: usage.input - cacheRead,
        cache_read_input_tokens: cacheRead,
        cache_creation_input_tokens: 0,
        output_tokens: 1,
      },
    },
  });
  out += event("ping");
  for (const [index, said] of script.say.entries()) {
    const delta = (fields: object) => event("content_block_delta", { index, delta: fields });
    if (said.type === "text") {
      out += event("content_block_start", { index, content_block: { type: "text", text: "" } });
      for (const text of pieces(said.text)) out += delta({ type: "text_delta", text });
    } else if (said.type === "thinking") {
      out += event("content_block_start", { index, content_block: { type: "thinking", thinking: "", signature: "" } });
      for (const thinking of pieces(said.text)) out += delta({ type: "thinking_delta", thinking });
      out += delta({ type: "signature_delta", signature: said.signature ?? "c2lnbmVk" });
    } else {
      out += event("content_block_start", { index, content_block: { type: "tool_use", id: said.id ?? "", name: said.name, input: {} } });
      for (const partial_json of pieces(said.args)) out += delta({ type: "input_json_delta", partial_json });
    }
    out += event("content_block_stop", { index });
  }
  const stop_reason = script.stop === "length" ? "max_tokens" : isCalling(script) ? "tool_use" : "end_turn";
  out += event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } });
  return `${out}${event("message_stop")}`;
}
