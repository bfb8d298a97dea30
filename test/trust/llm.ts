// B17: however a provider's stream ends, an answer stays valid and nothing hangs. Recorded streams of every dialect are cut
// after every byte, cleanly and with an error; their events are dropped, doubled and swapped; some are cut on real sockets,
// some fall silent, and some are stopped. What was kept of a cut answer is then taken as history. `--cuts all` cuts
// everywhere, `--cuts <n>` at so many places.

import { nodeNet } from "../../src/hosts/node/net.ts";
import type { Answer } from "../../src/kernel/egress/egress.ts";
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
/** A guard, not a measure. */
const HANG_MS = 120_000;
/** Far longer than a case takes: it passes when the case says so. */
const SILENCE_MS = 1_000_000;
const bar = new Bar("B17 trust:llm");

/** When a person stops: a number is that of the event heard last. */
const MOMENTS = ["before it is sent", "once it has arrived", 1, 2, 3, 5, 8] as const;
type Moment = (typeof MOMENTS)[number];

type Cut = { wire: WireName; name: string; script: Script; stream: Buffer; after: number; how: "end" | "reset" };

const everywhere = cuts();
const wanted = flag("cuts") === "all" ? everywhere.length : Number(flag("cuts") ?? 600);
const step = Math.max(1, everywhere.length / wanted);
for (let at = everywhere.length - 1; at >= 0; at -= step) await cutOff(everywhere[Math.floor(at)]!);
await disorder(wanted >= everywhere.length ? 1 : 20);
await onSockets(wanted >= everywhere.length ? 48 : 8);
bar.end();

/** After every byte of every stream; the packages see little of how, so the ways take turns. */
function cuts(): Cut[] {
  return WIRES.flatMap((wire) =>
    Object.entries(SCRIPTS).flatMap(([name, script]) => {
      const stream = recorded(wire, script);
      const places = Array.from({ length: stream.length + 1 }, (_, after) => after);
      return places.map((after): Cut => ({ wire, name, script, stream, after, how: (stream.length - after) % 3 === 1 ? "reset" : "end" }));
    }),
  );
}

async function cutOff(cut: Cut): Promise<void> {
  const { wire, name, script, stream, after, how } = cut;
  const story = (what: string | null) => () => `${wire} ${name} cut after ${after} of ${stream.length} bytes (${how}): ${what}`;
  const request = askedOf(wire);
  const events = await hear(
    modelsSaying(() => pieces(stream.subarray(0, after), 1 + ((after * 7) % 997), how), 1),
    request,
  );
  if (events === null) return bar.check("cuts", false, story("it hangs"));
  const wrong = judge(events, script);
  const end = events.at(-1);
  bar.check("cuts", wrong === null, story(wrong));
  if (after === stream.length) bar.check("whole", end?.type === "done", story(`ends as ${JSON.stringify(end)}`));
  if (after % 10 !== 0 || end === undefined || !("content" in end)) return;
  // A second try is whole, and its answer is as if there had been no first.
  let tries = 0;
  const mended = await hear(
    modelsSaying(() => (tries++ === 0 ? pieces(stream.subarray(0, after), 64, how) : pieces(stream, 64, "end")), 2),
    request,
  );
  bar.check("second tries", mended?.at(-1)?.type === "done" && judge(mended, script) === null, story("the second try failed"));
  const next = await hear(
    modelsSaying(() => pieces(stream, 64, "end"), 1),
    { ...request, messages: historyOf(request, end.content) },
  );
  bar.check("histories", next?.at(-1)?.type === "done", story(`as history: ${JSON.stringify(next?.at(-1))}`));
}

/** Events of a stream lost, doubled and swapped: what comes of it may be wrong, but it ends, in order. */
async function disorder(every: number): Promise<void> {
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
          const events = await hear(
            modelsSaying(() => pieces(Buffer.from(changed.join("")), 64, "end"), 1),
            askedOf(wire),
          );
          const wrong = events === null ? "it hangs" : judge(events, null);
          bar.check("disorder", wrong === null, () => `${wire} ${name} event ${at} ${way}: ${wrong}`);
        }
      }
    }
  }
}

/** The same over the Node host's sockets, with silence and with people who lose patience. */
async function onSockets(places: number): Promise<void> {
  const provider = await ScriptedProvider.start();
  for (const wire of WIRES) {
    const script = SCRIPTS.calls!;
    const length = recorded(wire, script).length;
    for (let at = 0; at < places; at++) {
      const after = Math.floor((length * at) / places);
      const request = (what: string) => requestOf(provider.choice(wire), `${what} over ${wire} after ${after}`);
      for (const how of ["end", "reset"] as const) {
        provider.on(`cut (${how}) over ${wire} after ${after}`, { cut: script, after, how });
        const events = await hear(testModels({ limits: { tries: 1 } }), request(`cut (${how})`));
        const wrong = events === null ? "it hangs" : judge(events, script);
        bar.check("socket cuts", wrong === null, () => `${wire} after ${after} (${how}): ${wrong}`);
      }
      provider.on(`silent over ${wire} after ${after}`, { hang: true, script, after });
      const silent = await hearSilence(request("silent"), after);
      const end = silent?.at(-1);
      const isSilent = end?.type === "error" && end.error.kind === "silent";
      bar.check(
        "silences",
        isSilent && judge(silent ?? [], script) === null,
        () => `${wire} silent after ${after}: ${JSON.stringify(end)}`,
      );
      const moment = MOMENTS[at % MOMENTS.length]!;
      const { stopped, hasArrived } = await hearUntil(moment, provider, request("stopped"), { script, after });
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

/** The time of silence passes once everything that is sent has been read, and more is waited for. */
async function hearSilence(request: ModelRequest, bytes: number): Promise<ModelEvent[] | null> {
  const { setTimeout } = globalThis;
  let pass = () => {};
  globalThis.setTimeout = ((act: () => void, ms?: number) => {
    if (ms === SILENCE_MS) pass = act;
    return setTimeout(act, ms);
  }) as typeof setTimeout;
  const net = netThatTells(bytes, () => pass());
  try {
    return await hear(testModels({ net, limits: { tries: 1, silenceMs: SILENCE_MS, localSilenceMs: SILENCE_MS } }), request);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
}

/** Stops at the moment, or where the answer has too few events for it, once all of it has been read. */
async function hearUntil(
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
  const net = netThatTells(after, () => stop.abort());
  const stopped = await hear(testModels({ net, limits: { tries: 1 } }), request, stop.signal, (heard) => {
    if (heard === moment) stop.abort();
  });
  return { stopped, hasArrived };
}

/** The Node host's way out. Tells when so many bytes of an answer have been read and the next is waited for. */
function netThatTells(bytes: number, tell: () => void): Net {
  const net = nodeNet({ isAllowed: (host) => host === "127.0.0.1" });
  return {
    async fetch(...asked) {
      const answer = await net.fetch(...asked);
      const reader = answer.body.getReader();
      let read = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            // What has been read is worked on first.
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

/** Null where it does not end within the guard. */
async function hear(
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

function modelsSaying(body: () => Answer["body"], tries: number): Models {
  const net = memoryNet(async () => ({ status: 200, headers: { "content-type": "text/event-stream" }, body: body() }));
  return testModels({ net, limits: { tries, backoffMs: 0 } });
}

function pieces(bytes: Buffer, size: number, how: "end" | "reset"): Answer["body"] {
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

function askedOf(wire: WireName): ModelRequest {
  const provider = { chat: "openrouter", responses: "openai", anthropic: "anthropic", google: "google" }[wire];
  return requestOf({ provider, model: "scripted", apiKey: "key", baseUrl: null, reasoning: "off", maxOutputTokens: 1000 }, "go on");
}

/** What was kept, a result for each call in it, and a person who says go on. */
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
