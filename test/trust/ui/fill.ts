// Puts payloads into every field that others can write and the desktop shows, by the calls that anybody would use. What the
// gateway refuses cannot be shown and is left out.

import { type Client, Connection } from "../../../src/client/client.ts";
import type { Host } from "../../support/host.ts";
import { type ScriptedModel, says, wants } from "../../support/models/scripted.ts";
import { ALICE } from "../../support/people.ts";
import type { Payload } from "./payloads.ts";
import { until } from "./watch.ts";

/** As many to a message: a conversation of few long ones opens as a whole. */
const BATCH = 25;
const DEVICE = "laptop";
/** What the fields take at most. */
const LABEL_CHARS = 200;
const DEVICE_CHARS = 256;
/** Calls under way. */
const AT_ONCE = 15;
/** Questions that wait at the same time. */
const QUESTIONS = 12;
/** Things that are remembered. */
const REMEMBERED = 6;

type Filled = Record<"devices" | "descriptions" | "tokens" | "labels" | "users", string[]>;
type Filling = { host: Host; alice: Client; root: Client; payloads: readonly Payload[] };

/** The marks of what was taken, by field. */
export async function fill({ host, alice, root, payloads }: Filling): Promise<Filled> {
  const { token } = await alice.call("sys.token.create", { kind: "node", label: "any machine" });
  const some = payloads.filter((_, at) => at % 10 === 0);
  const label = (text: string) => text.slice(0, LABEL_CHARS);
  return {
    tokens: await each(payloads, ({ text }) => alice.call("sys.token.create", { kind: "node", label: label(text) })),
    devices: await each(payloads, ({ text }) => connectAs(host, token.token, named(text))),
    descriptions: (
      await each(payloads, async ({ text }) => {
        const { device } = await alice.call("sys.device.update", { deviceId: named(text), description: `d${text}` });
        if (device === null) throw new Error("There is no such machine");
      })
    ).map((mark) => `d${mark}`),
    // Each is a process, or a password to be hashed: a part of them says as much.
    labels: await each(some, ({ text }) => alice.call("proc.spawn", { profile: "task", label: label(text) })),
    users: await each(some, ({ mark, text }) =>
      root.call("sys.user.create", { username: mark, password: "long enough for anybody", gecos: label(text).replaceAll(":", ";") }),
    ),
  };
}

/** Several at a time; those that the gateway refuses are not among the marks that come back. */
async function each(payloads: readonly Payload[], put: (payload: Payload) => Promise<unknown>): Promise<string[]> {
  const marks: string[] = [];
  for (let at = 0; at < payloads.length; at += AT_ONCE) {
    const batch = payloads.slice(at, at + AT_ONCE);
    const isTaken = await Promise.all(batch.map((payload) => taken(put(payload))));
    marks.push(...batch.filter((_, place) => isTaken[place]).map(({ mark }) => mark));
  }
  return marks;
}

/** As the gateway keeps it. */
function named(text: string): string {
  return text.slice(0, DEVICE_CHARS).trim();
}

/** A machine that says such things of itself, and is gone again. */
async function connectAs(host: Host, token: string, text: string): Promise<void> {
  const line = await Connection.open(host.url);
  try {
    await line.call("sys.connect", {
      protocol: 1,
      client: { id: text, version: text, platform: text, role: "driver" },
      driver: { implements: ["fs.*"] },
      auth: { username: ALICE.username, token },
    });
  } finally {
    line.close();
  }
}

type Talks = { conversations: { path: string; marks: string[] }[]; questions: string[]; answered: string[]; remembered: string[] };
type Talking = { alice: Client; root: Client; model: ScriptedModel; payloads: readonly Payload[] };

/** Messages of people and of a model, calls of tools with their output, files by such names, and questions about them. */
export async function talk({ alice, root, model, payloads }: Talking): Promise<Talks> {
  const { uid } = alice.session.identity.process;
  await model.serve(root, uid);
  const sound = payloads.filter(({ text }) => !/[\ud800-\udfff]/.test(text));
  const talks: Talks = { conversations: [], questions: [], answered: [], remembered: [] };
  for (let at = 0; at < sound.length; at += BATCH) {
    const batch = sound.slice(at, at + BATCH);
    const text = batch.map((payload) => payload.text).join("\n\n");
    const name = `~/${batch[0]!.text.replaceAll(/[/\p{Cc}]/gu, "_").slice(0, 100)}`;
    let isAnswered = false;
    model.on(text, wants(["Write", { target: "gsv", path: name, content: text }]), wants(["Read", { target: "gsv", path: name }]), () => {
      isAnswered = true;
      return says(text);
    });
    const { pid } = await alice.call("proc.spawn", { profile: "task", label: `batch ${at}`, prompt: text });
    const isIdle = async () => (await alice.call("proc.list", {})).processes.find((one) => one.pid === pid)?.state === "idle";
    await until(async () => isAnswered && (await isIdle()));
    talks.conversations.push({ path: `/chat/${encodeURIComponent(pid)}/default`, marks: [batch[0]!.mark, batch.at(-1)!.mark] });
  }
  for (const [at, { mark, text }] of sound.entries()) {
    if (at % Math.ceil(sound.length / (QUESTIONS * 2)) !== 0) continue;
    const question = await askFor(alice, model, mark, ["Shell", { target: DEVICE, input: `echo ${text.slice(0, 1_000)}` }]);
    if (question === null) continue;
    if (talks.questions.length < QUESTIONS) talks.questions.push(mark);
    else if (await taken(alice.call("proc.hil", { ...question, decision: "deny", reason: text.slice(0, 900) }))) talks.answered.push(mark);
  }
  // Nothing is there by such a name, so that a yes does no harm.
  for (const { mark, text } of sound) {
    if (talks.remembered.length >= REMEMBERED) break;
    const question = await askFor(alice, model, mark, ["Delete", { target: "gsv", path: `~/nowhere/${text.slice(0, 200)}` }]);
    if (question !== null && (await taken(alice.call("proc.hil", { ...question, decision: "approve", remember: true }))))
      talks.remembered.push(mark);
  }
  return talks;
}

type Wish = [tool: string, args: object];

async function askFor(alice: Client, model: ScriptedModel, mark: string, wish: Wish): Promise<{ pid: string; requestId: string } | null> {
  let isDone = false;
  const prompt = `ask for ${wish[0]} about ${mark}`;
  model.on(prompt, wants(wish), () => {
    isDone = true;
    return says("done");
  });
  const { pid } = await alice.call("proc.spawn", { profile: "task", prompt });
  let requestId: string | undefined;
  await until(async () => {
    requestId = (await alice.call("proc.approval.list", { pid })).pending[0]?.requestId;
    // What cannot be a command at all is not asked about: the model is told, and says that it is done.
    return requestId !== undefined || isDone;
  });
  return requestId === undefined ? null : { pid, requestId };
}

function taken(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
