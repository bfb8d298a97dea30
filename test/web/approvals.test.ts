// Approvals in the web desktop: visible on every screen, shown exactly, answered only by a deliberate press.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { type Desktop, goByKeys, PHONE, startDesktop, violationsInBothThemes, WIDE } from "../support/desktop.ts";
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
  const page = await desktop.goAs(ALICE, "/settings/look");
  await page.getByRole("heading", { level: 1, name: "Settings: Look" }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/approvals`);
  await tab.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  const stranger = await desktop.openAs(BOB, "/approvals");
  await stranger.getByRole("heading", { name: "Nothing waits for you" }).waitFor();

  await askFor(alice, "run touch was-here on laptop");
  await page.getByRole("link", { name: "Approvals 1 waiting" }).waitFor();
  await expect.poll(() => page.title()).toBe("(1) Settings: Look · GSV");
  await page.getByText("An agent asks: Shell on laptop").waitFor();
  await page.getByRole("button", { name: "Look", exact: true }).click();
  await expect.poll(() => new URL(page.url()).pathname).toBe("/approvals");
  for (const each of [page, tab]) await questionRegion(each).getByText("input: touch was-here").waitFor();

  // A scripted click, or a press that started before the question appeared, answers nothing.
  const allow = questionRegion(page).getByRole("button", { name: "Allow once" });
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
  await page.getByText("Shell on laptop").waitFor();
  await page.getByText("Allowed", { exact: true }).waitFor();
  await page.getByText("All of it").click();
  await page.getByText("input: touch was-here").waitFor();

  expect(await stranger.getByRole("link", { name: /waiting/ }).count()).toBe(0);
  expect(await stranger.getByText("was-here").count()).toBe(0);
  await stranger.getByRole("tab", { name: "History" }).click();
  await stranger.getByRole("heading", { name: "Nothing was asked yet" }).waitFor();
  await tab.close();
  await stranger.context().close();
});

test("a question can be denied with a reason by keyboard alone, and nothing runs", async () => {
  const page = await desktop.goAs(ALICE);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  const { requestId } = await askFor(alice, "run touch never on laptop");
  await goByKeys(page, "g a", "/approvals");
  await page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
  const deny = questionRegion(page).getByRole("button", { name: "Deny…" });
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
  await page.getByText("Reason given: not on a Sunday").waitFor();
});

test("grants are described in words in every tab until they are revoked", async () => {
  const page = await desktop.goAs(ALICE, "/approvals");
  const tab = await page.context().newPage();
  await tab.goto(`${desktop.host.url}/approvals/remembered`);
  await tab.getByRole("heading", { name: "Nothing is allowed beforehand" }).waitFor();
  await askFor(alice, "run touch once on laptop");
  await press(questionRegion(page).getByRole("button", { name: "Allow for a day…" }));
  await questionRegion(page).getByLabel("Exactly this").check();
  await press(questionRegion(page).getByRole("button", { name: "Allow", exact: true }));
  await tab.getByText(/may run exactly the command that was shown on laptop/).waitFor();
  await tab.getByRole("group", { name: "What was approved" }).getByText("input: touch once").waitFor();
  await expect.poll(() => tab.getByRole("listitem").filter({ hasText: "ends in 23 hours" }).count()).toBe(1);
  await page.getByRole("tab", { name: "Remembered" }).click();
  await page.getByRole("button", { name: /^Take back/ }).click();
  for (const each of [page, tab]) await each.getByRole("heading", { name: "Nothing is allowed beforehand" }).waitFor();
  await tab.close();
});

test("root sees the questions of other users but gets no notice of them", async () => {
  const page = await desktop.openAs(ROOT, "/approvals");
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  const { requestId, pid } = await askFor(alice, "run touch others on laptop");
  await page.getByRole("heading", { name: "Of other users" }).waitFor();
  await questionRegion(page).getByText("input: touch others").waitFor();
  expect(await page.getByRole("link", { name: /waiting/ }).count()).toBe(0);
  await alice.call("proc.hil", { pid, requestId, decision: "deny" });
  await questionRegion(page).waitFor({ state: "detached" });
  await page.context().close();
});

test("axe finds no violations in either theme, and a phone does not scroll sideways", async () => {
  const { requestId, pid } = await askFor(alice, `run echo ${"a-very-long-word-".repeat(20)} on laptop`);
  for (const look of [WIDE, PHONE]) {
    const page = await desktop.openAs(ALICE, "/approvals", look);
    await expect.poll(() => questionRegion(page).getByRole("button", { name: "Allow once" }).isEnabled()).toBe(true);
    expect(await violationsInBothThemes(page)).toEqual([]);
    expect(await page.locator(".pane-body").evaluate((body) => body.scrollWidth - body.clientWidth)).toBe(0);
    for (const part of ["remembered", "history"]) {
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
  return page.getByRole("region", { name: "Allow Shell on laptop?" });
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
