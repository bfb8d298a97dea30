// Schedules and notifications in the web desktop, in a real browser: a schedule in plain words that fires, its history, and what the user is
// told of it.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { type Desktop, PHONE, startDesktop, violationsInBothThemes } from "../support/desktop.ts";
import { ScriptedModel, says, wants } from "../support/models/scripted.ts";
import { ALICE, BOB, enter, ROOT } from "../support/people.ts";
import { tooWide } from "../support/widths.ts";

let desktop: Desktop;
let alice: Client;
let model: ScriptedModel;

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  model = await ScriptedModel.start();
  const root = await enter(desktop.host, ROOT);
  await model.serve(root, alice.session.identity.process.uid);
  root.close();
});

afterAll(async () => {
  alice?.close();
  await model?.close();
  await desktop?.close();
});

test("a schedule in plain words is echoed with its next runs, fires, and shows in its history and as a notification", async () => {
  model.on("water the plants", says("The ferns have had a litre."));
  const page = await desktop.openAs(ALICE, "/schedules");
  await page.getByText("A schedule starts an agent at set times").waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  const sentence = page.getByLabel("When and what");
  const add = page.getByRole("button", { name: "Add schedule" });

  await sentence.fill("every blue moon dance");
  await page.getByText("is not understood as a time").waitFor();
  expect(await add.isDisabled()).toBe(true);
  await sentence.fill("every weekday at 9");
  await page.getByText("Say what to do as well.").waitFor();
  await sentence.fill("0 0 30 2 * dance");
  await page.getByText("never runs").waitFor();

  await sentence.fill("every weekday at 9 water the plants");
  await page.getByText("Every weekday at 09:00").waitFor();
  expect(await page.getByRole("list", { name: "Next runs" }).getByRole("listitem").count()).toBe(3);
  await sentence.fill("in 1 second water the plants");
  await page.getByText("Once, after 1 second").waitFor();
  await add.click();
  await page.getByRole("heading", { name: "History" }).waitFor();
  await page.getByRole("link", { name: "Notifications 1 waiting" }).waitFor();
  await page.goto(`${desktop.host.url}/schedules`);
  const entry = page.getByRole("link", { name: /^water the plants/ });
  await entry.getByText("Done").waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await entry.click();
  await page.getByText("The ferns have had a litre.").waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.getByRole("link", { name: /^Open the conversation of/ }).click();
  await page.getByRole("log").getByText("The ferns have had a litre.").waitFor();

  await page.getByRole("link", { name: "Notifications 1 waiting" }).click();
  const notice = page.getByRole("listitem").filter({ hasText: "The ferns have had a litre." });
  await notice.getByText(/^Schedules,/).waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await notice.getByRole("button", { name: /^Mark as read/ }).click();
  await page.getByText("All read").waitFor();
  await notice.getByRole("button", { name: /^Dismiss/ }).click();
  await page.getByRole("heading", { name: "No notifications" }).waitFor();
  await page.context().close();
});

test("a run that fails says why, and a schedule is run by hand, paused, resumed, changed and removed", async () => {
  model.on("count the sheep", says("No sheep."));
  const { schedule } = await alice.call("sched.add", {
    name: "Sheep",
    expression: { kind: "cron", expr: "0 3 * * *", timezone: "Europe/Berlin" },
    target: { kind: "process.spawn", prompt: "count the sheep", workspace: { mode: "attach", workspaceId: "ws_gone" } },
  });
  const page = await desktop.openAs(ALICE, `/schedules/${schedule.id}`);
  await page.getByText("Every day at 03:00 (Europe/Berlin)").waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  const runs = page.getByRole("listitem").filter({ hasText: "run by hand" });
  await runs.getByText("Failed").waitFor();
  await runs.getByText(/ws_gone/).waitFor();

  await alice.call("sched.update", { id: schedule.id, patch: { target: { kind: "process.spawn", prompt: "count the sheep" } } });
  await page.getByRole("button", { name: "Run now" }).click();
  await runs.getByText("No sheep.").waitFor();

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();

  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByLabel("What the agent is told").fill("count the goats");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("count the goats", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Change when" }).click();
  await page.getByLabel("New time").fill("every blue moon");
  await page.getByText("is not understood as a time").waitFor();
  await page.getByLabel("New time").fill("every 2 hours");
  await page.getByText("Every 2 hours").waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Change when" }).waitFor();
  expect((await alice.call("sched.list", {})).schedules.find(({ id }) => id === schedule.id)?.expression).toEqual({
    kind: "every",
    everyMs: 7_200_000,
  });

  await page.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("button", { name: "Remove it" }).click();
  await page.getByRole("heading", { name: "Schedules", level: 1 }).waitFor();
  expect((await alice.call("sched.list", { includeDisabled: true })).schedules.map(({ name }) => name)).not.toContain("Sheep");
  await page.context().close();
});

test("a schedule for one time that has run is run again at another", async () => {
  model.on("water the cactus", says("A drop."), says("Another drop."));
  const { schedule } = await alice.call("sched.add", {
    name: "Cactus",
    expression: { kind: "after", afterMs: 1_000 },
    target: { kind: "process.spawn", prompt: "water the cactus" },
  });
  const page = await desktop.openAs(ALICE, `/schedules/${schedule.id}`);
  await page.getByText("A drop.").waitFor();
  await page.getByText("Done", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Resume" }).count()).toBe(0);
  await page.getByRole("button", { name: "Run again at…" }).click();
  await page.getByLabel("New time").fill("in 1 second");
  await page.getByText("Once, after 1 second").last().waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await alice.call("sched.runs", { id: schedule.id })).runs.length).toBe(2);
  await page.context().close();
});

test("notifications and their counts stay inside the window, however many there are", async () => {
  for (let i = 0; i < 12; i++) await alice.call("notification.create", { title: `Number ${i}` });
  for (const look of [{}, PHONE]) {
    const page = await desktop.openAs(ALICE, "/notifications", look);
    await page.getByText("Number 11").waitFor();
    const counter = page.locator(".bar-count").filter({ hasText: /^\d\d/ });
    await counter.waitFor();
    const outside = await page.evaluate(() => document.documentElement.scrollHeight - innerHeight);
    expect(outside).toBe(0);
    expect((await counter.boundingBox())!.height).toBeLessThan(30);
    await page.context().close();
  }
  for (const { notificationId } of (await alice.call("notification.list", {})).notifications)
    await alice.call("notification.dismiss", { notificationId });
});

test("a question says which schedule started the agent, and leads to it", async () => {
  model.on("tidy the shed", wants(["Shell", { input: "rm -r ~/shed" }]), says("It stays."));
  const { schedule } = await alice.call("sched.add", {
    name: "Shed",
    expression: { kind: "cron", expr: "0 4 * * *", timezone: "UTC" },
    target: { kind: "process.spawn", profile: "task", prompt: "tidy the shed" },
  });
  await alice.call("sched.run", { id: schedule.id, mode: "force" });
  const page = await desktop.goAs(ALICE, "/approvals");
  await page.getByRole("link", { name: "Shed", exact: true }).click();
  await page.getByRole("heading", { name: "Shed", level: 1 }).waitFor();
  const { pending } = await alice.call("proc.approval.list", {});
  for (const { requestId } of pending) await alice.call("proc.hil", { requestId, decision: "deny" });
  await alice.call("sched.remove", { id: schedule.id });
});

test("a question of an agent is a notification that leads to it and can deny it, and goes when it is answered", async () => {
  model.on("tidy the attic", wants(["Shell", { input: "rm -r attic" }]), says("I was not allowed to."));
  const page = await desktop.openAs(ALICE, "/notifications");
  const { pid } = await alice.call("proc.spawn", { profile: "task", label: "Tidier", prompt: "tidy the attic" });
  const notice = page.getByRole("listitem").filter({ hasText: "Asked by Tidier" });
  await notice.getByText("rm -r attic").waitFor();
  expect(await notice.getByRole("button", { name: "Allow" }).count()).toBe(0);
  await notice.getByRole("button", { name: "Deny" }).click();
  await notice.waitFor({ state: "detached" });
  await expect.poll(async () => JSON.stringify(await alice.call("proc.history", { pid }))).toContain("I was not allowed to.");
  await page.context().close();
});

test("what another user has is not there, and a narrow phone shows all of it", async () => {
  await alice.call("sched.add", {
    name: "Hers",
    expression: { kind: "every", everyMs: 3_600_000 },
    target: { kind: "process.spawn", prompt: "look".repeat(200) },
  });
  await alice.call("notification.create", { title: "Long".repeat(40), body: "word ".repeat(300), level: "warning" });
  const other = await desktop.openAs(BOB, "/schedules");
  await other.getByText("A schedule starts an agent at set times").waitFor();
  await other.goto(`${desktop.host.url}/notifications`);
  await other.getByRole("heading", { name: "No notifications" }).waitFor();
  await other.context().close();
  const phone = await desktop.openAs(ALICE, "/schedules", PHONE);
  await phone.getByRole("link", { name: /^Hers/ }).last().waitFor();
  await expectNarrow(phone);
  await phone.getByRole("link", { name: /^Hers/ }).last().click();
  await phone.getByRole("heading", { name: "History" }).waitFor();
  await expectNarrow(phone);
  await phone.goto(`${desktop.host.url}/notifications`);
  await phone.getByText(/^LongLong/).waitFor();
  await expectNarrow(phone);
  await phone.getByRole("button", { name: "Show all" }).click();
  await phone.getByRole("button", { name: "Show less" }).waitFor();
  await phone.context().close();
});

async function expectNarrow(page: Page): Promise<void> {
  expect(await tooWide(page)).toEqual([]);
}
