// Approvals in the web desktop: visible on every screen, shown exactly, answered only by a deliberate press.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { messageField, readWhole } from "../support/chat-page.ts";
import { type Desktop, goByKeys, hasFocus, PHONE, startDesktop, violationsInBothThemes, WIDE } from "../support/desktop.ts";
import { plugIn, type TestDevice } from "../support/devices.ts";
import { ALICE, BOB, enter, ROOT } from "../support/people.ts";
import { askFor } from "../support/questions.ts";

let desktop: Desktop;
let alice: Client;
let laptop: TestDevice;

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  laptop = await plugIn(desktop.host, alice, "laptop", 20_000);
});

afterAll(async () => {
  laptop?.close();
  alice?.close();
  await desktop?.close();
});

test("a question is announced on every screen, shown exactly in every tab, and disappears from all tabs when it is answered", async () => {
  const page = await desktop.goAs(ALICE, "/settings/appearance");
  await page.getByRole("heading", { level: 1, name: "Settings: Appearance" }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/approvals`);
  await tab.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  const stranger = await desktop.openAs(BOB, "/approvals");
  await stranger.getByRole("heading", { name: "Nothing waits for you" }).waitFor();

  const { pid } = await askFor(alice, "run touch was-here on laptop");
  await page.getByRole("link", { name: "Approvals 1 waiting" }).waitFor();
  await expect.poll(() => page.title()).toBe("(1) Settings: Appearance · GSV");
  await page.getByText(/^Helper \w+ asks: Run a command on laptop\?$/).waitFor();
  // It leads to the conversation, where the question stands above the message field, and goes when that is in view.
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe(`/chat/${encodeURIComponent(pid)}/default`);
  await questionRegion(page).getByRole("group", { name: "The command" }).getByText("touch was-here").waitFor();
  await page.getByText(/asks: Run a command/).waitFor({ state: "detached" });
  await page.goto(`${desktop.host.url}/approvals`);
  for (const each of [page, tab]) {
    await questionRegion(each).getByRole("group", { name: "The command" }).getByText("touch was-here").waitFor();
    await questionRegion(each).getByText("Commands on your machines need your OK.").waitFor();
  }
  await tab
    .getByText(/asked by Helper \w+/)
    .getByRole("link", { name: "open" })
    .waitFor();

  // A scripted click, or a press that started before the question appeared, answers nothing.
  const allow = questionRegion(page).getByRole("button", { name: "Allow", exact: true });
  await expect.poll(() => allow.isEnabled()).toBe(true);
  await allow.evaluate((button) => (button as HTMLButtonElement).click());
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("BUTTON");
  expect((await alice.call("proc.approval.list", {})).pending).toHaveLength(1);
  expect(existsSync(join(laptop.workspace, "was-here"))).toBe(false);

  await allow.click();
  for (const each of [page, tab]) {
    await each.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await expect.poll(() => each.title()).toBe("Approvals · GSV");
    expect(await each.getByRole("link", { name: /waiting/ }).count()).toBe(0);
  }
  await expect.poll(() => existsSync(join(laptop.workspace, "was-here"))).toBe(true);
  await page.getByRole("tab", { name: "History" }).click();
  const past = page.getByRole("listitem").filter({ hasText: "touch was-here" });
  await past.getByText("Run a command on laptop").waitFor();
  await past.getByText("Allowed", { exact: true }).waitFor();
  await past.getByText("Details").click();
  await past.getByText("input: touch was-here").waitFor();

  expect(await stranger.getByRole("link", { name: /waiting/ }).count()).toBe(0);
  expect(await stranger.getByText("was-here").count()).toBe(0);
  await stranger.getByRole("tab", { name: "History" }).click();
  await stranger.getByRole("heading", { name: "No questions yet" }).waitFor();
  await tab.close();
  await stranger.context().close();
});

test("a question can be denied with a reason by keyboard alone, and nothing runs", async () => {
  const page = await desktop.goAs(ALICE);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  const { requestId } = await askFor(alice, "run touch never on laptop");
  await goByKeys(page, "g a", "/approvals");
  await page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
  const deny = questionRegion(page).getByRole("button", { name: "Deny with a reason…" });
  await expect.poll(() => deny.isEnabled()).toBe(true);
  await tabTo(page, deny);
  await page.keyboard.press("Enter");
  // Wait until the page has focused the field before typing.
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toMatch(/^(TEXTAREA|INPUT)$/);
  await page.keyboard.type("not on a Sunday");
  await tabTo(page, questionRegion(page).getByRole("button", { name: "Deny", exact: true }));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  const { questions } = await alice.call("proc.approval.history", {});
  expect(questions.find((one) => one.requestId === requestId)).toMatchObject({ state: "denied", reason: "not on a Sunday" });
  expect(existsSync(join(laptop.workspace, "never"))).toBe(false);
  await page.goto(`${desktop.host.url}/approvals/history`);
  await page.getByText("Reason: not on a Sunday").waitFor();
});

test("a key answers only if it is pressed afresh outside of fields, and a permission is read in words until it is revoked", async () => {
  const page = await desktop.goAs(ALICE, "/approvals");
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/approvals/allowed`);
  await tab.getByRole("heading", { name: "Nothing is allowed in advance" }).waitFor();
  const { pid } = await askFor(alice, "run touch once on laptop");
  const isPending = async () => (await alice.call("proc.approval.list", { pid })).pending.length === 1;
  // In its conversation the message field has the focus: what is typed there is a message.
  await page.goto(`${desktop.host.url}/chat/${encodeURIComponent(pid)}/default`);
  await page.locator(".question[data-ready=true]").waitFor();
  await hasFocus(messageField(page));
  await page.keyboard.type("yan");
  expect(await messageField(page).inputValue()).toBe("yan");
  // A key that is still held from before, and one that a script presses, are no answers.
  await page.getByRole("heading", { level: 1 }).first().focus();
  for (const init of [{ key: "y", repeat: true }, { key: "y" }, { key: "n" }])
    await page.evaluate((init) => document.body.dispatchEvent(new KeyboardEvent("keydown", { ...init, bubbles: true })), init);
  expect(await isPending()).toBe(true);
  await keysCount(page);
  await page.keyboard.press("a");
  await questionRegion(page).getByLabel("Exactly this command").waitFor();
  await questionRegion(page).getByLabel("Any command on laptop").check();
  await questionRegion(page)
    .getByText(/may then delete files, install programs and send data from laptop/)
    .waitFor();
  await questionRegion(page).getByLabel("Exactly this command").check();
  await press(questionRegion(page).getByRole("button", { name: /^Allow until tomorrow/ }));
  const words = /^Helper \w+ may run touch once on laptop until tomorrow \d/;
  await tab.getByText(words).waitFor();
  await page.getByText(words).waitFor();
  await expect.poll(() => existsSync(join(laptop.workspace, "once"))).toBe(true);
  await tab.getByText("What you approved").click();
  await tab.getByRole("group", { name: "What you approved" }).getByText("input: touch once").waitFor();
  await page.goto(`${desktop.host.url}/approvals/allowed`);
  await page.getByRole("button", { name: /^Revoke: Helper/ }).click();
  for (const each of [page, tab]) await each.getByRole("heading", { name: "Nothing is allowed in advance" }).waitFor();
  await tab.close();
});

test("one press denies and y allows, but nothing that was out of sight", async () => {
  const page = await desktop.goAs(ALICE, "/approvals");
  await askFor(alice, "run touch two on laptop");
  await keysCount(page);
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  const input = `touch seen; echo ${"and so on ".repeat(400)}`;
  await askFor(alice, `run ${input} on laptop`);
  const allow = questionRegion(page).getByRole("button", { name: "Allow", exact: true });
  await questionRegion(page).getByText("There is more.").waitFor();
  await keysCount(page);
  await page.keyboard.press("y");
  expect(await allow.isEnabled()).toBe(false);
  await readWhole(questionRegion(page));
  await keysCount(page);
  expect(existsSync(join(laptop.workspace, "seen"))).toBe(false);
  await page.keyboard.press("y");
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  await expect.poll(() => existsSync(join(laptop.workspace, "seen"))).toBe(true);
  expect(existsSync(join(laptop.workspace, "two"))).toBe(false);
});

test("words that are typed on the page answer nothing, and no key allows what deletes", async () => {
  const page = await desktop.goAs(ALICE, "/approvals");
  const { pid } = await askFor(alice, "run touch typed on laptop");
  const isPending = async (of: string) => (await alice.call("proc.approval.list", { pid: of })).pending.length === 1;
  await keysCount(page);
  await questionRegion(page).getByText("Y allow", { exact: true }).waitFor();
  // An answer would have been sent by the time that keys count again.
  for (const word of ["yes", "nay"]) {
    await page.keyboard.type(word);
    await keysCount(page);
  }
  expect(await isPending(pid)).toBe(true);
  await page.keyboard.press("y");
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  await expect.poll(() => existsSync(join(laptop.workspace, "typed"))).toBe(true);

  const deletion = await askFor(alice, "run rm typed on laptop");
  await keysCount(page);
  await questionRegion(page).getByText("This deletes something.", { exact: true }).waitFor();
  await questionRegion(page).getByText("N deny", { exact: true }).waitFor();
  expect(await questionRegion(page).getByText("Y allow", { exact: true }).count()).toBe(0);
  await page.keyboard.press("y");
  await keysCount(page);
  expect(await isPending(deletion.pid)).toBe(true);
  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  expect(existsSync(join(laptop.workspace, "typed"))).toBe(true);
});

test("a key with a modifier is a key of text: Ctrl+Y and Ctrl+N on a Mac neither answer nor open anything", async () => {
  const { pid, requestId } = await askFor(alice, "run touch modified on laptop");
  const page = await desktop.openAs(ALICE, "/nowhere");
  await page.context().addInitScript(() => Object.defineProperty(navigator, "platform", { value: "MacIntel" }));
  await page.goto(`${desktop.host.url}/chat/${encodeURIComponent(pid)}/default`);
  await hasFocus(messageField(page));
  for (const key of ["Control+y", "Control+n", "Control+a", "Meta+y"]) {
    await keysCount(page);
    await page.keyboard.press(key);
    await keysCount(page);
  }
  expect(await questionRegion(page).getByLabel("Exactly this command").count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe(`/chat/${encodeURIComponent(pid)}/default`);
  expect((await alice.call("proc.approval.list", { pid })).pending).toHaveLength(1);
  await alice.call("proc.hil", { pid, requestId, decision: "deny" });
  await page.context().close();
});

test("Escape in a form of a question leads back to its buttons, and stops nothing", async () => {
  const { pid, requestId } = await askFor(alice, "run touch escaped on laptop");
  const page = await desktop.goAs(ALICE, `/chat/${encodeURIComponent(pid)}/default`);
  const question = questionRegion(page);
  await press(question.getByRole("button", { name: "Always allow…" }));
  await hasFocus(question.getByLabel("Exactly this command"));
  await page.keyboard.press("Escape");
  await hasFocus(question.getByRole("button", { name: "Always allow…" }));
  await press(question.getByRole("button", { name: "Deny with a reason…" }));
  await hasFocus(question.getByLabel("Reason"));
  await page.keyboard.press("Escape");
  await hasFocus(question.getByRole("button", { name: "Deny", exact: true }));
  expect((await alice.call("proc.approval.list", { pid })).pending.map((one) => one.requestId)).toEqual([requestId]);
  await alice.call("proc.hil", { pid, requestId, decision: "deny" });
});

test("root sees the questions of other users but gets no notice of them", async () => {
  const page = await desktop.openAs(ROOT, "/approvals");
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  const { requestId, pid } = await askFor(alice, "run touch others on laptop");
  await page.getByRole("heading", { name: "Of other users" }).waitFor();
  await questionRegion(page).getByRole("group", { name: "The command" }).getByText("touch others").waitFor();
  expect(await page.getByRole("link", { name: /waiting/ }).count()).toBe(0);
  await alice.call("proc.hil", { pid, requestId, decision: "deny" });
  await questionRegion(page).waitFor({ state: "detached" });
  await page.context().close();
});

test("axe finds no violations in either theme, and a phone does not scroll sideways", async () => {
  const { requestId, pid } = await askFor(alice, `run echo ${"a-very-long-word-".repeat(20)} on laptop`);
  for (const look of [WIDE, PHONE]) {
    const page = await desktop.openAs(ALICE, "/approvals", look);
    await expect.poll(() => questionRegion(page).getByRole("button", { name: "Allow", exact: true }).isEnabled()).toBe(true);
    expect(await violationsInBothThemes(page)).toEqual([]);
    expect(await page.locator(".pane-body").evaluate((body) => body.scrollWidth - body.clientWidth)).toBe(0);
    for (const part of ["allowed", "history"]) {
      await page.goto(`${desktop.host.url}/approvals/${part}`);
      await page
        .getByRole("tabpanel")
        .getByRole(part === "history" ? "listitem" : "heading")
        .first()
        .waitFor();
      expect(await violationsInBothThemes(page), part).toEqual([]);
    }
    await page.context().close();
  }
  await alice.call("proc.hil", { pid, requestId, decision: "deny" });
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

function questionRegion(page: Page): Locator {
  return page.getByRole("region", { name: "Run a command on laptop?" });
}

/** Resolves once a key that is pressed would answer: the question has been in view, with no key pressed, for long enough. */
async function keysCount(page: Page): Promise<void> {
  await page.locator(".question[data-keys=true]").waitFor();
}

/** Presses a button once it is enabled. */
async function press(button: Locator): Promise<void> {
  await expect.poll(() => button.isEnabled()).toBe(true);
  await button.click();
}

async function tabTo(page: Page, to: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await to.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("The keyboard does not get there");
}
