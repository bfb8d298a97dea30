// B17: however a provider's stream ends, the answer stays valid and nothing hangs. Recorded streams of every wire format are cut
// after every byte, cleanly and with an error; their events are dropped, doubled and swapped; some are cut on real sockets, some
// fall silent, and some are aborted. What was kept of a cut answer is then used as history. `--cuts all` cuts everywhere, `--cuts
// <n>` at that many places.

import { makeNodeNet } from "../../src/hosts/node/net.ts";
import type { EgressResponse } from "../../src/kernel/egress/egress.ts";
import type { ModelEvent, ModelMessage, ModelRequest, Models } from "../../src/ports/models.ts";
import type { Net } from "../../src/ports/net.ts";
import { requestOf, testModels } from "../support/models/ask.ts";
import { recorded, ScriptedProvider, type WireName } from "../support/models/provider.ts";
import type { Script } from "../support/models/script.ts";
import { memoryNet } from "../support/memory/net.ts";
import { Bar, flag } from "./bar.ts";
import { judge } from "./llm/judge.ts";
import { SCRIPTS } from "./llm/scripts.ts";

const WIRES: WireName[] = ["chat", "responses", "anthropic", "google"];
/** A guard against hangs, not a measure. */
const HANG_MS = 120_000;
/** Far longer than a case takes: the case itself fires this timer. */
const SILENCE_MS = 1_000_000;
const bar = new Bar("B17 trust:llm");

/** When a person stops the run: a number is that of the last event received. */
const MOMENTS = ["before it is sent", "once it has arrived", 1, 2, 3, 5, 8] as const;
type Moment = (typeof MOMENTS)[number];

type Cut = { wire: WireName; name: string; script: Script; stream: Buffer; after: number; how: "end" | "reset" };

const everywhere = listCuts();
const wanted = flag("cuts") === "all" ? everywhere.length : Number(flag("cuts") ?? 600);
const step = Math.max(1, everywhere.length / wanted);
for (let at = everywhere.length - 1; at >= 0; at -= step) await checkCut(everywhere[Math.floor(at)]!);
await checkDisorder(wanted >= everywhere.length ? 1 : 20);
await checkOnSockets(wanted >= everywhere.length ? 48 : 8);
bar.end();

/** After every byte of every stream. The SDK packages hardly see how a stream was cut, so the two ways alternate. */
function listCuts(): Cut[] {
  return WIRES.flatMap((wire) =>
    Object.entries(SCRIPTS).flatMap(([name, script]) => {
      const stream = recorded(wire, script);
      const places = Array.from({ length: stream.length + 1 }, (_, after) => after);
      return places.map((after): Cut => ({ wire, name, script, stream, after, how: (stream.length - after) % 3 === 1 ? "reset" : "end" }));
    }),
  );
}

async function checkCut(cut: Cut): Promise<void> {
  const { wire, name, script, stream, after, how } = cut;
  const story = (what: string | null) => () => `${wire} ${name} cut after ${after} of ${stream.length} bytes (${how}): ${what}`;
  const request = requestFor(wire);
  const events = await collect(
    modelsStreaming(() => pieces(stream.subarray(0, after), 1 + ((after * 7) % 997), how), 1),
    request,
  );
  if (events === null) return bar.check("cuts", false, story("it hangs"));
  const wrong = judge(events, script);
  const end = events.at(-1);
  bar.check("cuts", wrong === null, story(wrong));
  if (after === stream.length) bar.check("whole", end?.type === "done", story(`ends as ${JSON.stringify(end)}`));
  if (after % 10 !== 0 || end === undefined || !("content" in end)) return;
  // A second try gets the whole stream, and its answer is as if there had been no first.
  let tries = 0;
  const mended = await collect(
    modelsStreaming(() => (tries++ === 0 ? pieces(stream.subarray(0, after), 64, how) : pieces(stream, 64, "end")), 2),
    request,
  );
  bar.check("second tries", mended?.at(-1)?.type === "done" && judge(mended, script) === null, story("the second try failed"));
  const next = await collect(
    modelsStreaming(() => pieces(stream, 64, "end"), 1),
    { ...request, messages: historyOf(request, end.content) },
  );
  bar.check("histories", next?.at(-1)?.type === "done", story(`as history: ${JSON.stringify(next?.at(-1))}`));
}

/** Loses, doubles and swaps events of a stream: the answer may be wrong, but it ends, in order. */
async function checkDisorder(every: number): Promise<void> {
  let count = 0;
  for (const wire of WIRES) {
    for (const [name, script] of Object.entries(SCRIPTS)) {
      const lines = recorded(wire, script)
        .toString()
        .split(/(?<=\n\n)/);
      for (const [at, line] of lines.entries()) {
        if (count++ % every !== 0) continue;
        const without = lines.toSpliced(at, 1);
        const ways = { lost: without, doubled: lines.toSpliced(at, 0, line), swapped: without.toSpliced(at + 1, 0, line) };
        const garbage = lines.toSpliced(at, 0, 'data: {"choices":[{"delta":{"tool_calls":[{}]}}],"type":7}\n\n');
        for (const [way, changed] of Object.entries({ ...ways, garbage })) {
          const events = await collect(
            modelsStreaming(() => pieces(Buffer.from(changed.join("")), 64, "end"), 1),
            requestFor(wire),
          );
          const wrong = events === null ? "it hangs" : judge(events, null);
          bar.check("disorder", wrong === null, () => `${wire} ${name} event ${at} ${way}: ${wrong}`);
        }
      }
    }
  }
}

/** The same over the Node host's sockets, with silences and aborts. */
async function checkOnSockets(places: number): Promise<void> {
  const provider = await ScriptedProvider.start();
  for (const wire of WIRES) {
    const script = SCRIPTS.calls!;
    const length = recorded(wire, script).length;
    for (let at = 0; at < places; at++) {
      const after = Math.floor((length * at) / places);
      const request = (what: string) => requestOf(provider.choice(wire), `${what} over ${wire} after ${after}`);
      for (const how of ["end", "reset"] as const) {
        provider.on(`cut (${how}) over ${wire} after ${after}`, { cut: script, after, how });
        const events = await collect(testModels({ limits: { tries: 1 } }), request(`cut (${how})`));
        const wrong = events === null ? "it hangs" : judge(events, script);
        bar.check("socket cuts", wrong === null, () => `${wire} after ${after} (${how}): ${wrong}`);
      }
      provider.on(`silent over ${wire} after ${after}`, { hang: true, script, after });
      const silent = await collectSilent(request("silent"), after);
      const end = silent?.at(-1);
      const isSilent = end?.type === "error" && end.error.kind === "silent";
      bar.check(
        "silences",
        isSilent && judge(silent ?? [], script) === null,
        () => `${wire} silent after ${after}: ${JSON.stringify(end)}`,
      );
      const moment = MOMENTS[at % MOMENTS.length]!;
      const { stopped, hasArrived } = await collectUntil(moment, provider, request("stopped"), { script, after });
      const last = stopped?.at(-1);
      const isStopped = last?.type === "error" && last.error.kind === "aborted" && hasArrived === (moment !== "before it is sent");
      bar.check(
        "stops",
        isStopped && judge(stopped ?? [], script) === null,
        () => `${wire} after ${after} stopped (${moment}): ${JSON.stringify(last)}, it had ${hasArrived ? "" : "not "}arrived`,
      );
    }
  }
  await provider.close();
}

/** The silence timeout fires once everything that was sent has been read and the next read is pending. */
async function collectSilent(request: ModelRequest, bytes: number): Promise<ModelEvent[] | null> {
  const { setTimeout } = globalThis;
  let pass = () => {};
  globalThis.setTimeout = ((act: () => void, ms?: number) => {
    if (ms === SILENCE_MS) pass = act;
    return setTimeout(act, ms);
  }) as typeof setTimeout;
  const net = notifyingNet(bytes, () => pass());
  try {
    return await collect(testModels({ net, limits: { tries: 1, silenceMs: SILENCE_MS, localSilenceMs: SILENCE_MS } }), request);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
}

/** Aborts at the moment, or where the answer has too few events for it, once all of it has been read. */
async function collectUntil(
  moment: Moment,
  provider: ScriptedProvider,
  request: ModelRequest,
  { script, after }: { script: Script; after: number },
): Promise<{ stopped: ModelEvent[] | null; hasArrived: boolean }> {
  const stop = new AbortController();
  let hasArrived = false;
  provider.on(promptOf(request), () => {
    hasArrived = true;
    if (moment === "once it has arrived") stop.abort();
    return { hang: true, script, after };
  });
  if (moment === "before it is sent") stop.abort();
  const net = notifyingNet(after, () => stop.abort());
  const stopped = await collect(testModels({ net, limits: { tries: 1 } }), request, stop.signal, (heard) => {
    if (heard === moment) stop.abort();
  });
  return { stopped, hasArrived };
}

/** The Node host's Net. Calls `tell` when `bytes` bytes of an answer have been read and the next read is pending. */
function notifyingNet(bytes: number, tell: () => void): Net {
  const net = makeNodeNet({ isAllowed: (host) => host === "127.0.0.1" });
  return {
    async fetch(...asked) {
      const answer = await net.fetch(...asked);
      const reader = answer.body.getReader();
      let read = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            // Bytes that were read are processed first.
            if (read === bytes) setImmediate(tell);
            const part = await reader.read();
            if (part.done) return controller.close();
            read += part.value.length;
            controller.enqueue(part.value);
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      );
      return { ...answer, body };
    },
  };
}

/** Collects the events; null if the stream does not end within the guard. */
async function collect(
  models: Models,
  request: ModelRequest,
  signal = new AbortController().signal,
  onEvent: (count: number) => void = () => {},
): Promise<ModelEvent[] | null> {
  let guard: NodeJS.Timeout | undefined;
  const hung = new Promise<null>((resolve) => {
    guard = setTimeout(() => resolve(null), HANG_MS);
  });
  const all = async () => {
    const events: ModelEvent[] = [];
    for await (const event of models.stream(request, signal)) onEvent(events.push(event));
    return events;
  };
  try {
    return await Promise.race([all(), hung]);
  } catch (error) {
    return [{ type: "retrying", attempt: 0, waitMs: 0, why: `It threw ${String(error)}` }];
  } finally {
    clearTimeout(guard);
  }
}

function modelsStreaming(body: () => EgressResponse["body"], tries: number): Models {
  const net = memoryNet(async () => ({ status: 200, headers: { "content-type": "text/event-stream" }, body: body() }));
  return testModels({ net, limits: { tries, backoffMs: 0 } });
}

function pieces(bytes: Buffer, size: number, how: "end" | "reset"): EgressResponse["body"] {
  let at = 0;
  return {
    async read() {
      if (at < bytes.length) return bytes.subarray(at, (at += size));
      if (how === "reset") throw new Error("ECONNRESET");
      return null;
    },
    close() {},
  };
}

function requestFor(wire: WireName): ModelRequest {
  const provider = { chat: "openrouter", responses: "openai", anthropic: "anthropic", google: "google" }[wire];
  return requestOf({ provider, model: "scripted", apiKey: "key", baseUrl: null, reasoning: "off", maxOutputTokens: 1000 }, "go on");
}

/** The content that was kept, a result for each call in it, and another message of the person. */
function historyOf(request: ModelRequest, content: Extract<ModelMessage, { role: "assistant" }>["content"]): ModelMessage[] {
  const results = content.flatMap((block): ModelMessage[] =>
    block.type === "toolCall"
      ? [{ role: "tool", callId: block.id, toolName: block.name, isError: true, content: [{ type: "text", text: "interrupted" }] }]
      : [],
  );
  return [...request.messages, { role: "assistant", content }, ...results, ...request.messages];
}

function promptOf({ messages }: ModelRequest): string {
  const [message] = messages;
  return message!.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
