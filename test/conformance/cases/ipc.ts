// Messages between processes: through the kernel, as themselves, and only within one user.

import { expect } from "vitest";
import type { Asked } from "../../support/models/provider.ts";
import { says, told, toldText, wants } from "../../support/models/scripted.ts";
import { stages } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

const shell = (input: string) => wants(["Shell", { target: "gsv", input }]);

/** The last message that a model received. */
const last = (asked: Asked) => JSON.stringify(told(asked).at(-1));

stages("proc.ipc.send:delivers", async ({ spawn, model, ann }) => {
  const [source, target] = [await spawn(), await spawn()];
  // Both use the same model, in any order.
  model.otherwise((asked) => {
    if (last(asked).includes("Tell the other.")) return shell(`proc send ${target.pid} --metadata-json '{"urgent":true}' hello there`);
    return says(last(asked).includes("Message from process") ? "Understood." : "Told.");
  });
  expect(await source.ask("Tell the other.")).toMatchObject({ status: "ok", text: "Told." });
  const { output } = await source.result();
  const runId = /accepted run_id=(\S+) queued=false/.exec(output)?.[1];
  expect(runId, output).toBeDefined();
  expect(await target.finished(runId!)).toMatchObject({ status: "ok", text: "Understood." });
  expect(target.of("proc.run.started", runId)).toMatchObject([{ reason: "proc.ipc.deliver" }]);
  const [message] = (await target.history()).messages;
  expect(message!.role).toBe("user");
  const lines = String(message!.content).split("\n");
  expect(lines[0]).toContain(`\`${source.pid}\``);
  expect(lines[0]).toContain(`(ann uid=${ann.session.identity.process.uid})`);
  expect(lines[1]).toMatch(/^Sent at: \d{4}-\d\d-\d\dT[\d:.]+Z\.$/);
  expect(lines.slice(2, 5)).toEqual(["", "hello there", ""]);
  expect(lines).toContain("Metadata:");
  expect(lines).toContain('  "urgent": true');
});

stages("proc.ipc.send:refuses", async ({ spawn, model, ann, root, world }) => {
  const agent = await spawn();
  const { pid: foreign } = await (await world.bob()).call("proc.spawn", { profile: "task" });
  const absent = "00000000-0000-4000-8000-000000000000";
  // A person is not a process, and uses proc.send instead.
  for (const client of [ann, root])
    for (const call of ["proc.ipc.send", "proc.ipc.call"] as const)
      await expectRefusal(client.call(call, { pid: agent.pid, message: "x" }), 403, /Only a process/);
  model.on("Speak to them.", shell(`proc send ${foreign} hello`), shell(`proc send ${absent} hello`), says("Neither."));
  await agent.ask("Speak to them.");
  const outputs = (await agent.history()).messages.flatMap(({ role, content }) =>
    role === "toolResult" ? [(content as { output: string }).output] : [],
  );
  expect(outputs[0]).toContain(`Process not found: ${foreign}`);
  expect(outputs[0]!.replaceAll(foreign, "<pid>")).toBe(outputs[1]!.replaceAll(absent, "<pid>"));
});

stages("proc.ipc.call:replies", async ({ spawn, model }) => {
  const [source, target] = [await spawn(), await spawn()];
  model.otherwise((asked) => {
    const words = last(asked);
    if (words.includes("Ask the other.")) return shell(`proc call ${target.pid} --timeout 2m what is it`);
    if (words.includes("ipc.reply")) return says("Now I know.");
    return says(words.includes("Message from process") ? "It is seven." : "Asked.");
  });
  // Sent from a separate conversation and answered there; a fast reply joins the calling run.
  const { status, text } = await source.ask("Ask the other.", { conversationId: "riddles" });
  expect(status).toBe("ok");
  expect(["Asked.", "Now I know."]).toContain(text);
  await expect
    .poll(async () => (await source.history({ conversationId: "riddles" })).messages.at(-1))
    .toMatchObject({ role: "assistant", content: "Now I know." });
  const { messages } = await source.history({ conversationId: "riddles" });
  const callId = /call_id=(\S+)/.exec((messages[2]!.content as { output: string }).output)?.[1];
  const reply = messages.find(({ role }) => role === "system");
  for (const words of ["ipc.reply", target.pid, String(callId), "It is seven."]) expect(String(reply?.content)).toContain(words);
  expect((await source.history()).messageCount).toBe(0);
  // A run of its own, which is queued while the calling run is active.
  await expect.poll(() => source.of("proc.run.finished")).toHaveLength(2);
  expect(["ipc.reply", "queue.promote"]).toContain(source.of("proc.run.started")[1]!.reason);
  const [request] = (await target.history()).messages;
  for (const words of ["IPC call:", String(callId), source.pid, "before the deadline"]) expect(String(request!.content)).toContain(words);
});

stages("proc.ipc.call:queued", async ({ spawn, model }) => {
  const [source, target] = [await spawn(), await spawn()];
  const release = model.holds("Be busy.", shell("echo busy"));
  const busy = await target.say("Be busy.");
  await expect.poll(() => model.asked.length).toBe(1);
  model.otherwise((asked) => {
    const words = toldText(asked);
    if (last(asked).includes("Ask the busy one.")) return shell(`proc call ${target.pid} --timeout 5m are you free`);
    if (words.includes("Message from process")) return says("Now I am free.");
    return says(last(asked).includes("ipc.reply") ? "Good." : "Asked.");
  });
  await source.ask("Ask the busy one.");
  const { output } = await source.result();
  expect(output).toContain("queued=true");
  release();
  // It is answered together with the active run, and still completes.
  expect(await target.finished(busy)).toMatchObject({ status: "ok", text: "Now I am free." });
  await expect.poll(async () => (await source.history()).messages.at(-1)).toMatchObject({ role: "assistant", content: "Good." });
  const reply = (await source.history()).messages.find(({ role }) => role === "system");
  expect(String(reply?.content)).toContain("Now I am free.");
});

stages("proc.ipc.call:timeout", async ({ spawn, model }) => {
  const [source, target] = [await spawn(), await spawn()];
  model.otherwise((asked) => {
    const words = last(asked);
    if (words.includes("Ask the slow one.")) return shell(`proc call ${target.pid} --timeout 1s hurry up`);
    if (words.includes("Message from process")) return { hang: true };
    return says(words.includes("ipc.timeout") ? "Too slow." : "Asked.");
  });
  await source.ask("Ask the slow one.");
  await expect.poll(async () => (await source.history()).messages.at(-1)).toMatchObject({ role: "assistant", content: "Too slow." });
  const told = (await source.history()).messages.filter(({ role }) => role === "system");
  expect(told).toHaveLength(1);
  expect(String(told[0]!.content)).toContain(target.pid);
  // The late end of its run is reported to nobody.
  const { runId } = await target.told("proc.run.started");
  await target.client.call("proc.abort", { pid: target.pid });
  await target.finished(String(runId));
  expect((await source.history()).messages.filter(({ role }) => role === "system")).toHaveLength(1);
});

stages("proc.ipc.call:bounds", async ({ spawn, model }) => {
  const [source, target] = [await spawn(), await spawn()];
  model.otherwise((asked) => {
    const words = last(asked);
    if (words.includes("Ask for ever.")) return shell(`proc call ${target.pid} --timeout 2h take your time`);
    if (words.includes("Message from process")) return { hang: true };
    return says("Asked.");
  });
  await source.ask("Ask for ever.");
  await target.told("proc.run.started");
  const request = String((await target.history()).messages[0]!.content);
  const at = (pattern: RegExp) => Date.parse(pattern.exec(request)![1]!);
  expect(at(/^- deadline: (\S+)$/m) - at(/^Sent at: (\S+)\.$/m)).toBe(600_000);
});

stages("proc.ipc.call:closed", async ({ spawn, model, ann }) => {
  const [source, target] = [await spawn(), await spawn()];
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  model.otherwise(async (asked) => {
    const words = last(asked);
    if (words.includes("Ask and leave.")) return shell(`proc call ${target.pid} take your time`);
    if (words.includes("ipc.reply")) return says("Heard at home.");
    if (!words.includes("Message from process")) return says("Asked.");
    await gate;
    return says("Here I am.");
  });
  await source.ask("Ask and leave.", { conversationId: "short" });
  await ann.call("proc.conversation.close", { pid: source.pid, conversationId: "short" });
  release();
  // The calling conversation accepts no message, so the reply goes to the default one.
  await expect.poll(async () => (await source.history()).messages.at(-1)).toMatchObject({ role: "assistant", content: "Heard at home." });
});

stages("proc.ipc.call:failed", async ({ spawn, model }) => {
  const [source, target] = [await spawn(), await spawn()];
  model.otherwise((asked) => {
    const words = last(asked);
    if (words.includes("Ask the ill one.")) return shell(`proc call ${target.pid} how are you`);
    if (words.includes("Message from process")) return { status: 401 };
    return says(words.includes("ipc.reply") ? "Get well." : "Asked.");
  });
  await source.ask("Ask the ill one.");
  await expect.poll(async () => (await source.history()).messages.at(-1)).toMatchObject({ role: "assistant", content: "Get well." });
  const reply = (await source.history()).messages.find(({ role }) => role === "system");
  expect(String(reply?.content)).toContain("It ended with status error");
});
