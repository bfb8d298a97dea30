// Workers AI through the platform's binding, presented as an OpenAI-compatible server, which is what its newer models speak.
// Older ones stream `{"response": "..."}`, which is converted here.

import type { ModelRequest } from "../ports/models.ts";
import { NetError } from "../ports/net.ts";
import { type Fetch, type AbortableWait, makeAbortableWait, type Wire } from "./net-fetch.ts";

/** The part of the platform's binding that is used; the Cloudflare host passes it in. */
export type WorkersAi = {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options: { returnRawResponse: true; extraHeaders: Record<string, string>; signal: AbortSignal },
  ): Promise<Response>;
};

export function makeWorkersAiFetch(
  binding: WorkersAi | undefined,
  request: ModelRequest,
  silenceMs: number,
  wire: Wire,
  abort: AbortController,
): Fetch {
  const { choice } = request;
  const withTimeout = makeAbortableWait(silenceMs, wire, abort);
  return async (_, init = {}) => {
    if (binding === undefined) {
      wire.error = new NetError(
        "connect",
        "this gateway does not run on Cloudflare. Choose another provider with gsv config set config/ai/provider",
      );
      throw wire.error;
    }
    const requestBody = JSON.parse(typeof init.body === "string" ? init.body : "{}") as Record<string, unknown>;
    const inputs = toModelInputs(requestBody, choice.reasoning);
    const options = { returnRawResponse: true as const, extraHeaders: { "x-session-affinity": request.affinity }, signal: abort.signal };
    const ask = (given: Record<string, unknown>) => withTimeout(toResponse(binding.run(choice.model, given, options)));
    let answer = await ask(inputs);
    // Some models accept no tools and fail with them; without tools they can at least talk.
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 429 && "tools" in inputs) {
      const { tools: _tools, tool_choice: _choice, parallel_tool_calls: _parallel, ...plain } = inputs;
      answer = await ask(plain);
    }
    wire.isAnswered = true;
    if (!answer.ok) {
      const body = await withTimeout(answer.text());
      wire.refused = { status: answer.status, headers: answer.headers, body };
      return new Response(body, { status: answer.status, headers: answer.headers });
    }
    return new Response(answer.body === null ? null : toModernStream(answer.body, withTimeout), {
      headers: { "content-type": "text/event-stream" },
    });
  };
}

/** The binding throws where a server would return a status; its message begins with an error number. */
async function toResponse(run: Promise<Response>): Promise<Response> {
  try {
    return await run;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const status = /capacity|3040|429|limit/i.test(message)
      ? 429
      : /5007|no such model/i.test(message)
        ? 404
        : /internal|5\d\d\b/i.test(message)
          ? 500
          : 400;
    return Response.json({ error: { message } }, { status });
  }
}

function toModelInputs({ model: _, max_tokens, ...others }: Record<string, unknown>, reasoning: string): Record<string, unknown> {
  const tools = Array.isArray(others.tools) ? { tools: others.tools.map(flattenTool), parallel_tool_calls: true } : {};
  const thinking = reasoning === "off" ? { enable_thinking: false } : { enable_thinking: true };
  return { ...others, ...tools, max_completion_tokens: max_tokens, chat_template_kwargs: thinking };
}

/** These models fail on deep schemas: each argument keeps only its type and description. */
function flattenTool(tool: unknown): unknown {
  const { type, function: given } = tool as { type: string; function: Record<string, unknown> };
  const schema = given.parameters as { properties?: Record<string, Record<string, unknown>>; required?: unknown } | undefined;
  const properties = Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, { type, description }]) => [name, { type, description }]),
  );
  return { type, function: { ...given, parameters: { type: "object", properties, required: schema?.required } } };
}

function toModernStream(body: ReadableStream<Uint8Array>, withTimeout: AbortableWait): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  let calls = 0;
  let isOld = false;
  const convertLine = (text: string): string => {
    if (!text.startsWith("data:")) return text;
    const data = text.slice(5).trim();
    if (data === "[DONE]") return isOld ? `data: ${JSON.stringify(makeChunk({}, calls > 0 ? "tool_calls" : "stop"))}\n\n${text}` : text;
    const old = parseOldChunk(data);
    if (old === null) return text;
    isOld = true;
    const tool_calls = old.tool_calls?.map((call) => ({
      index: calls,
      id: `workers-ai-tool-${calls++}`,
      type: "function",
      function: { name: call.name, arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}) },
    }));
    const delta = { content: old.response ?? "", ...(tool_calls === undefined ? {} : { tool_calls }) };
    return `data: ${JSON.stringify({ ...makeChunk(delta, null), ...(old.usage === undefined ? {} : { usage: old.usage }) })}`;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await withTimeout(reader.read());
        rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        // A last line without its end was cut off and is dropped.
        if (lines.length > 0) controller.enqueue(encoder.encode(`${lines.map(convertLine).join("\n")}\n`));
        if (done) controller.close();
        else if (lines.length === 0) controller.enqueue(new Uint8Array());
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

type OldChunk = { response?: string; tool_calls?: { name: string; arguments: unknown }[]; usage?: unknown };

function parseOldChunk(data: string): OldChunk | null {
  try {
    const value = JSON.parse(data) as Record<string, unknown>;
    return "response" in value && !("choices" in value) ? value : null;
  } catch {
    return null;
  }
}

function makeChunk(delta: Record<string, unknown>, finish_reason: string | null): Record<string, unknown> {
  return { id: "workers-ai", choices: [{ index: 0, delta, finish_reason }] };
}
