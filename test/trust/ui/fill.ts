// Puts payloads into every field that others can write and the desktop shows, through the usual calls. Payloads that the gateway
// refuses cannot be shown and are left out.

import { type Client, Connection } from "../../../src/client/client.ts";
import type { Host } from "../../support/host.ts";
import { type ScriptedModel, says, wants } from "../../support/models/scripted.ts";
import { ALICE } from "../../support/people.ts";
import type { Payload } from "./payloads.ts";
import { askAboutScripts } from "./scripts.ts";
import { until } from "./watch.ts";

/** Payloads per message: a conversation of a few long messages loads as a whole. */
const BATCH = 25;
const DEVICE = "laptop";
/** The maximum lengths of the fields. */
const LABEL_CHARS = 200;
const DEVICE_CHARS = 256;
/** Calls in flight. */
const AT_ONCE = 15;
/** Questions that are open at the same time. */
const QUESTIONS = 12;
/** Open questions about scripts. */
const SCRIPT_QUESTIONS = 8;
/** Remembered approvals. */
const REMEMBERED = 6;

type Filled = Record<"devices" | "descriptions" | "tokens" | "labels" | "users", string[]>;
type Filling = { host: Host; alice: Client; root: Client; payloads: readonly Payload[] };

/** Returns the marks of the accepted payloads, by field. */
export async function fill({ host, alice, root, payloads }: Filling): Promise<Filled> {
  const { token } = await alice.call("sys.token.create", { kind: "node", label: "any machine" });
  const some = payloads.filter((_, at) => at % 10 === 0);
  const label = (text: string) => text.slice(0, LABEL_CHARS);
  return {
    tokens: await each(payloads, ({ text }) => alice.call("sys.token.create", { kind: "node", label: label(text) })),
    devices: await each(payloads, ({ text }) => connectAs(host, token.token, deviceIdOf(text))),
    descriptions: (
      await each(payloads, async ({ text }) => {
        const { device } = await alice.call("sys.device.update", { deviceId: deviceIdOf(text), description: `d${text}` });
        if (device === null) throw new Error("There is no such machine");
      })
    ).map((mark) => `d${mark}`),
    // Each costs a process or a password hash, so only some are tried.
    labels: await each(some, ({ text }) => alice.call("proc.spawn", { profile: "task", label: label(text) })),
    users: await each(some, ({ mark, text }) =>
      root.call("sys.user.create", { username: mark, password: "long enough for anybody", gecos: label(text).replaceAll(":", ";") }),
    ),
  };
}

/** Puts several at a time. Returns the marks of those that the gateway accepted. */
async function each(payloads: readonly Payload[], put: (payload: Payload) => Promise<unknown>): Promise<string[]> {
  const marks: string[] = [];
  for (let at = 0; at < payloads.length; at += AT_ONCE) {
    const batch = payloads.slice(at, at + AT_ONCE);
    const areAccepted = await Promise.all(batch.map((payload) => isAccepted(put(payload))));
    marks.push(...batch.filter((_, place) => areAccepted[place]).map(({ mark }) => mark));
  }
  return marks;
}

/** The device id as the gateway stores it. */
function deviceIdOf(text: string): string {
  return text.slice(0, DEVICE_CHARS).trim();
}

/** Connects a device with the text in all its fields, and disconnects it. */
async function connectAs(host: Host, token: string, text: string): Promise<void> {
  const connection = await Connection.open(host.url);
  try {
    await connection.call("sys.connect", {
      protocol: 1,
      client: { id: text, version: text, platform: text, role: "driver" },
      driver: { implements: ["fs.*"] },
      auth: { username: ALICE.username, token },
    });
  } finally {
    connection.close();
  }
}

type Talks = { conversations: { path: string; marks: string[] }[]; questions: string[]; answered: string[]; remembered: string[] };
type Talking = { alice: Client; root: Client; model: ScriptedModel; payloads: readonly Payload[] };

/** Messages of people and of a model, tool calls with their output, files with such names, and questions about them. */
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
    await isAccepted(alice.call("proc.conversation.update", { pid, conversationId: "default", title: batch[0]!.text.slice(0, 200) }));
    talks.conversations.push({ path: `/chat/${encodeURIComponent(pid)}/default`, marks: [batch[0]!.mark, batch.at(-1)!.mark] });
  }
  for (const [at, { mark, text }] of sound.entries()) {
    if (at % Math.ceil(sound.length / (QUESTIONS * 2)) !== 0) continue;
    const question = await askFor(alice, model, mark, ["Shell", { target: DEVICE, input: `echo ${text.slice(0, 1_000)}` }]);
    if (question === null) continue;
    if (talks.questions.length < QUESTIONS) talks.questions.push(mark);
    else if (await isAccepted(alice.call("proc.hil", { ...question, decision: "deny", reason: text.slice(0, 900) })))
      talks.answered.push(mark);
  }
  await askAboutScripts(alice, async () => {
    for (const { mark, text } of sound.filter((_, at) => at % Math.ceil(sound.length / SCRIPT_QUESTIONS) === 1)) {
      const code = `// script-${text.slice(0, 1_000)}\nreturn 1;`;
      if ((await askFor(alice, model, mark, ["CodeMode", { code }])) !== null) talks.questions.push(`script-${mark}`);
    }
  });
  // No file has such a name, so an approval does no harm.
  for (const { mark, text } of sound) {
    if (talks.remembered.length >= REMEMBERED) break;
    const question = await askFor(alice, model, mark, ["Delete", { target: "gsv", path: `~/nowhere/${text.slice(0, 200)}` }]);
    if (question !== null && (await isAccepted(alice.call("proc.hil", { ...question, decision: "approve", remember: true }))))
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
    // Text that cannot be a command raises no question: the model gets an error, and ends its run.
    return requestId !== undefined || isDone;
  });
  return requestId === undefined ? null : { pid, requestId };
}

function isAccepted(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}
