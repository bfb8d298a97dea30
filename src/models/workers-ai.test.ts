// Workers AI through a fake binding: the real one exists only on the platform.

import { expect, it } from "vitest";
import { listen, requestOf, testModels } from "../../test/support/models/ask.ts";
import { chatStream } from "../../test/support/models/chat.ts";
import type { ModelChoice } from "../ports/models.ts";
import type { WorkersAi } from "./workers-ai.ts";

const choice: ModelChoice = {
  provider: "workers-ai",
  model: "@cf/nvidia/nemotron-3-120b-a12b",
  apiKey: "",
  baseUrl: null,
  reasoning: "off",
  maxOutputTokens: 500,
};

type Run = { model: string; inputs: Record<string, unknown>; headers: Record<string, string> };

function binding(answers: (string | Error | ReadableStream<Uint8Array>)[], runs: Run[] = []): WorkersAi {
  return {
    async run(model, inputs, { extraHeaders }) {
      runs.push({ model, inputs, headers: extraHeaders });
      const answer = answers.shift() ?? new Error("nothing more");
      if (answer instanceof Error) throw answer;
      return new Response(answer);
    },
  };
}

it("streams answers of newer models, with the inputs they expect", async () => {
  const runs: Run[] = [];
  const say = [
    { type: "text" as const, text: "hello" },
    { type: "call" as const, id: "c1", name: "Read", args: '{"path":"/"}' },
  ];
  const { end } = await listen(testModels({ workersAi: binding([chatStream({ say })], runs) }), requestOf(choice, "hi"));
  expect(end).toMatchObject({ type: "done", stop: "tools", content: [{ type: "text" }, { type: "toolCall", arguments: { path: "/" } }] });
  expect(end.usage?.cost.total).toBeGreaterThan(0);
  expect(runs[0]).toMatchObject({
    model: choice.model,
    inputs: { stream: true, max_completion_tokens: 500, parallel_tool_calls: true, chat_template_kwargs: { enable_thinking: false } },
    headers: { "x-session-affinity": "proc-1" },
  });
});

it("converts answers of older models", async () => {
  const old = [
    'data: {"response":"Hel"}',
    'data: {"response":"lo"}',
    'data: {"tool_calls":[{"name":"Read","arguments":{"path":"/"}}],"response":""}',
    'data: {"response":"","usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}',
    "data: [DONE]",
  ];
  const { end } = await listen(testModels({ workersAi: binding([old.join("\n\n") + "\n\n"]) }), requestOf(choice, "hi"));
  expect(end).toMatchObject({
    type: "done",
    usage: { input: 5, output: 2 },
    content: [
      { type: "text", text: "Hello" },
      { type: "toolCall", name: "Read", arguments: { path: "/" } },
    ],
  });
});

it("retries without tools if a model accepts none", async () => {
  const runs: Run[] = [];
  const workersAi = binding([new Error("5006: tools are not supported"), chatStream({ say: [{ type: "text", text: "hi" }] })], runs);
  const { end } = await listen(testModels({ workersAi }), requestOf(choice, "hi"));
  expect(end).toMatchObject({ type: "done", content: [{ type: "text", text: "hi" }] });
  expect(runs.map(({ inputs }) => "tools" in inputs)).toEqual([true, false]);
});

it("classifies failures: capacity, unknown model, silence, a cut stream", async () => {
  const kindOf = async (...answers: (string | Error | ReadableStream<Uint8Array>)[]) => {
    const isSilent = answers[0] instanceof ReadableStream;
    const limits = { tries: 1, ...(isSilent ? { silenceMs: 30 } : {}) };
    const { end } = await listen(testModels({ workersAi: binding(answers), limits }), requestOf(choice, "hi"));
    return end.type === "error" ? end.error.kind : "done";
  };
  expect(await kindOf(new Error("3040: Capacity temporarily exceeded"))).toBe("rate-limited");
  expect(await kindOf(new Error("5007: No such model"), new Error("5007: No such model"))).toBe("unknown-model");
  expect(await kindOf(new ReadableStream())).toBe("silent");
  expect(await kindOf('data: {"response":"Hel"}\n\ndata: {"resp')).toBe("malformed");
});
