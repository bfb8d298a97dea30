// Encodes a script as a stream of OpenAI's chat completions, the dialect of every compatible server.

import { isCalling, pieces, type Script, sse, USAGE } from "./script.ts";

export function chatStream(script: Script): string {
  const usage = script.usage ?? USAGE;
  const chunk = (delta: unknown, finish: string | null = null) =>
    sse({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1_760_000_000,
      model: "scripted",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  let out = chunk({ role: "assistant", content: "" });
  let calls = 0;
  for (const said of script.say) {
    if (said.type === "text") for (const content of pieces(said.text)) out += chunk({ content });
    else if (said.type === "thinking") for (const reasoning_content of pieces(said.text)) out += chunk({ reasoning_content });
    else {
      const index = calls++;
      const id = said.id === null ? {} : { id: said.id };
      out += chunk({ tool_calls: [{ index, ...id, type: "function", function: { name: said.name, arguments: "" } }] });
      for (const args of pieces(said.args)) out += chunk({ tool_calls: [{ index, function: { arguments: args } }] });
    }
  }
  out += chunk({}, script.stop === "length" ? "length" : isCalling(script) ? "tool_calls" : "stop");
  out += sse({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_760_000_000,
    model: "scripted",
    choices: [],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
    },
  });
  return `${out}${sse("[DONE]")}`;
}
