// Renames, pins, rewinds and deletes conversations.

import { expect } from "vitest";
import { says, toldText, wants } from "../../support/models/scripted.ts";
import { stages } from "../stage.ts";
import { expectRefusal } from "../verifies.ts";

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

stages("proc.conversation.update:changes", async ({ spawn, ann }) => {
  const agent = await spawn();
  const { pid } = agent;
  for (const conversationId of ["a", "b"]) await ann.call("proc.conversation.open", { pid, conversationId });
  const { conversation } = await ann.call("proc.conversation.update", { pid, conversationId: "a", title: " Sea ", isPinned: true });
  expect(conversation).toMatchObject({ id: "a", title: "Sea", isPinned: true, startedBy: null });
  await expect.poll(() => agent.of("proc.changed").at(-1)).toMatchObject({ changes: ["conversations"], conversationId: "a" });
  expect((await ann.call("proc.conversation.list", { pid })).conversations[0]).toMatchObject({ id: "a", title: "Sea" });
  const bare = await ann.call("proc.conversation.update", { pid, conversationId: "a", title: "" });
  expect(bare.conversation).toMatchObject({ title: null, isPinned: true });
  await expectRefusal(ann.call("proc.conversation.update", { pid, conversationId: "none", isPinned: true }), 404, /^Unknown conversation/);
});

stages("proc.conversation.rewind:removes", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  for (const word of ["One", "Two", "Three"]) model.on(`${word}?`, says(`${word}.`));
  model.on("Hang.", { hang: true });
  for (const word of ["One", "Two", "Three"]) await agent.ask(`${word}?`);
  const { messages } = await agent.history();
  const active = await agent.say("Hang.");
  await expect.poll(() => model.asked.length).toBe(4);
  const rewound = await ann.call("proc.conversation.rewind", { pid, beforeMessageId: messages[2]!.id });
  expect(await agent.finished(active)).toMatchObject({ status: "aborted", reason: "conversation.rewind" });
  expect(rewound).toMatchObject({ ok: true, pid, conversationId: "default", generation: 1, archivedMessages: 5 });
  const { segment } = rewound;
  expect(segment).toMatchObject({ kind: "rewind", fromMessageId: messages[2]!.id, summaryMessageId: null });
  expect((await agent.history()).messages).toEqual(messages.slice(0, 2));
  await expect.poll(() => agent.of("proc.changed").at(-1)).toMatchObject({ event: "conversation.rewound", segment });
  // What was removed can be read and restored, also after what was before it is removed too.
  const { messages: archived } = await ann.call("proc.conversation.segment.read", { pid, segmentId: segment.id });
  expect(archived.slice(0, 4)).toEqual(messages.slice(2));
  await ann.call("proc.conversation.rewind", { pid, beforeMessageId: messages[1]!.id });
  expect((await ann.call("proc.conversation.segments", { pid })).segments.map(({ kind }) => kind)).toEqual(["rewind", "rewind"]);
  const forked = await ann.call("proc.conversation.fork", { pid, segmentId: segment.id, targetConversationId: "before" });
  expect(forked).toMatchObject({ restoredMessages: 7, segment });
  const { messages: restored } = await agent.history({ conversationId: "before" });
  expect(restored.map(({ content }) => content)).toEqual(["One?", "One.", "Two?", "Two.", "Three?", "Three.", "Hang."]);
});

stages("proc.conversation.rewind:queued", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("First?", { hang: true }).on("Instead?", says("Better.")).on("Queued?", says("Later."));
  await agent.say("First?");
  await expect.poll(() => model.asked.length).toBe(1);
  const queued = await agent.say("Queued?");
  const { messages } = await agent.history();
  await ann.call("proc.conversation.rewind", { pid, beforeMessageId: messages[0]!.id });
  expect(await agent.ask("Instead?")).toMatchObject({ status: "ok", text: "Better." });
  expect(toldText(model.asked.at(-1)!)).not.toContain("First?");
  expect(agent.of("proc.run.finished", queued)).toEqual([]);
  await ann.call("proc.queue.resume", { pid });
  expect(await agent.finished(queued)).toMatchObject({ status: "ok", text: "Later." });
});

stages("proc.conversation.rewind:refuses", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Look.", wants(["Shell", { target: "gsv", input: "echo hello" }]), says("Seen."));
  await agent.ask("Look.");
  const { messages } = await agent.history();
  const result = messages.find(({ role }) => role === "toolResult")!;
  await expectRefusal(ann.call("proc.conversation.rewind", { pid, beforeMessageId: result.id }), 400, /result of a call/);
  await ann.call("proc.conversation.open", { pid, conversationId: "other" });
  for (const args of [{ beforeMessageId: 99_999 }, { conversationId: "other", beforeMessageId: messages[0]!.id }])
    await expectRefusal(ann.call("proc.conversation.rewind", { pid, ...args }), 404, /^Message not found/);
  expect((await agent.history()).messages).toEqual(messages);
});

stages("proc.conversation.delete:everything", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  const conversationId = "secret talk";
  const long = "y".repeat(400_000);
  await ann.call("fs.write", { path: "~/long.txt", content: long });
  model.on("Picture.", says("Nice.")).on("Print.", wants(["Shell", { target: "gsv", input: "cat ~/long.txt" }]), says("Printed."));
  model.on("Other.", says("Fine."));
  const send = async (message: string) => {
    const media = [{ type: "image" as const, mimeType: "image/png", data: DOT }];
    return agent.finished(
      (await ann.call("proc.send", { pid, conversationId, message, ...(message === "Picture." ? { media } : {}) })).runId,
    );
  };
  await send("Picture.");
  await ann.call("proc.conversation.fork", { pid, conversationId, throughMessageId: 1, targetConversationId: "kept" });
  await send("Picture.");
  await ann.call("proc.conversation.reset", { pid, conversationId });
  await send("Print.");
  await send("Picture.");
  const { messages } = await agent.history({ conversationId });
  await ann.call("proc.conversation.rewind", { pid, conversationId, beforeMessageId: messages.at(-2)!.id });
  await ann.call("proc.settings.set", { pid, conversationId, prompt: "Be discreet." });
  const listed = async (path: string): Promise<string[]> => {
    const found = await ann.call("fs.read", { path });
    return found.ok && "files" in found ? found.files : [];
  };
  const { uid } = ann.session.identity.process;
  const root = `/var/sessions/ann/${pid}`;
  expect(await listed(`/var/media/${uid}/${pid}`)).toHaveLength(3);
  expect(await listed(`${root}/outputs`)).toHaveLength(1);
  expect(await ann.call("proc.conversation.delete", { pid, conversationId })).toEqual({ ok: true, pid, conversationId });
  await expect.poll(() => agent.of("proc.changed").at(-1)).toMatchObject({ event: "conversation.deleted", conversationId });
  expect((await ann.call("proc.conversation.get", { pid, conversationId })).conversation).toBe(null);
  expect((await ann.call("proc.conversation.segments", { pid, conversationId })).segments).toEqual([]);
  expect((await agent.history({ conversationId })).messages).toEqual([]);
  // The picture that the fork has stays.
  expect(await listed(`/var/media/${uid}/${pid}`)).toHaveLength(1);
  expect(await listed(`${root}/outputs`)).toEqual([]);
  expect(await listed(`${root}/conversations`)).toEqual([]);
  expect((await ann.call("proc.settings.get", { pid, conversationId })).settings.prompt).toBe(null);
  const { messages: kept } = await agent.history({ conversationId: "kept" });
  const { key } = (kept[0]!.content as { media: { key: string }[] }).media[0]!;
  expect(await ann.call("proc.media.read", { pid, key })).toMatchObject({ mimeType: "image/png" });
  // A client that follows from the beginning hears nothing of it any more.
  const told: string[] = [];
  const again = ann.follow({ pid, after: 0, onEvent: (event) => told.push(JSON.stringify(event)), onGap: () => {} });
  await again.begun;
  expect(await agent.ask("Other.")).toMatchObject({ status: "ok" });
  await expect.poll(() => told.join("")).toContain("Fine.");
  expect(told.join("")).not.toContain("Picture.");
  again.stop();
});

stages("proc.conversation.delete:refuses", async ({ spawn, ann, model }) => {
  const agent = await spawn();
  const { pid } = agent;
  model.on("Hang.", { hang: true });
  const runId = await agent.say("Hang.", { conversationId: "aside" });
  await expectRefusal(ann.call("proc.conversation.delete", { pid }), 400, /cannot be deleted: empty it instead/);
  await expectRefusal(ann.call("proc.conversation.delete", { pid, conversationId: "none" }), 404, /^Unknown conversation/);
  await expect.poll(() => model.asked.length).toBe(1);
  await ann.call("proc.conversation.delete", { pid, conversationId: "aside" });
  expect(await agent.finished(runId)).toMatchObject({ status: "aborted", reason: "conversation.delete" });
});
