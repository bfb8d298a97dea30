// Encodes a script as a stream of Gemini's generateContent.

import { pieces, type Script, sse, USAGE } from "./script.ts";

export function googleStream(script: Script): string {
  const usage = script.usage ?? USAGE;
  const chunk = (parts: unknown[], more: object = {}) =>
    sse({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }], modelVersion: "scripted", responseId: "r1" });
  let out = "";
  for (const said of script.say) {
    if (said.type === "text") for (const text of pieces(said.text)) out += chunk([{ text }]);
    else if (said.type === "thinking") for (const text of pieces(said.text)) out += chunk([{ text, thought: true }]);
    else
      out += chunk([
        {
          functionCall: { ...(said.id === null ? {} : { id: said.id }), name: said.name, args: JSON.parse(said.args) as unknown },
          thoughtSignature: "c2lnbmVk",
        },
      ]);
  }
  return (
    out +
    sse({
      candidates: [
        { content: { role: "model", parts: [{ text: "" }] }, index: 0, finishReason: script.stop === "length" ? "MAX_TOKENS" : "STOP" },
      ],
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output,
        cachedContentTokenCount: usage.cacheRead ?? 0,
        totalTokenCount: usage.input + usage.output,
      },
      modelVersion: "scripted",
    })
  );
}
