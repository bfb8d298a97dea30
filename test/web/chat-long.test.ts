// A conversation of 10,000 messages: the page holds a bounded part of it at any position.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { messageList } from "../support/chat-page.ts";
import { desktopOf } from "../support/desktop.ts";
import { fillHistory } from "../support/long-history.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate } from "../support/people.ts";

const COUNT = 10_000;
/** Rows of one screen and its surroundings. */
const ROWS_MAX = 60;

test("10,000 messages open at their end, scroll without jumping, and can be searched", async () => {
  const home = mkdtempSync(join(tmpdir(), "gsv-long-"));
  let host = await startNodeHost({ home });
  await populate(host);
  const alice = await enter(host, ALICE);
  const { pid } = await alice.call("proc.spawn", { profile: "task", label: "long" });
  await alice.call("proc.conversation.open", { pid, conversationId: "default" });
  alice.close();
  await host.close();
  fillHistory(home, pid, COUNT);
  host = await startNodeHost({ home });
  const desktop = await desktopOf(host);
  try {
    const page = await desktop.openAs(ALICE, `/chat/${pid}/default`);
    const list = messageList(page);
    await list.getByText(`message ${COUNT}.`).waitFor();
    expect(await rowCount(page)).toBeLessThan(ROWS_MAX);

    // The visible messages stay in place while older pages are inserted above them.
    for (let pages = 0; pages < 4; pages++) {
      const height = await list.evaluate((box) => box.scrollHeight);
      await list.evaluate((box) => box.scrollTo(0, 300));
      // As soon as a message is visible.
      await expect.poll(() => firstVisible(page)).not.toBeNull();
      const before = await firstVisible(page);
      await expect.poll(() => list.evaluate((box) => box.scrollHeight)).toBeGreaterThan(height);
      await expect.poll(async () => Math.abs((await topOf(page, before!.key)) - before!.top)).toBeLessThan(3);
      expect(await rowCount(page)).toBeLessThan(ROWS_MAX);
    }

    await page.getByRole("button", { name: "Search this conversation" }).click();
    await page.getByRole("searchbox", { name: "Words" }).fill("message 1234.");
    await page.getByRole("button", { name: /Agent .*message 1234\./ }).click();
    await expect.poll(() => list.getByText("message 1234.").isVisible()).toBe(true);
    expect(await rowCount(page)).toBeLessThan(ROWS_MAX);

    await page.getByRole("button", { name: "Newest" }).click();
    await expect.poll(() => list.getByText(`message ${COUNT}.`).isVisible()).toBe(true);
    await expect.poll(() => list.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)).toBeLessThan(3);
    expect(await rowCount(page)).toBeLessThan(ROWS_MAX);
    expect(desktop.problems).toEqual([]);
  } finally {
    await desktop.close();
    rmSync(home, { recursive: true, force: true });
  }
});

function rowCount(page: Page): Promise<number> {
  return messageList(page).locator("> [data-row]").count();
}

/** The first visible message and its position. */
function firstVisible(page: Page): Promise<{ key: string; top: number } | null> {
  return messageList(page).evaluate((box) => {
    const edge = box.getBoundingClientRect().top;
    for (const row of box.querySelectorAll<HTMLElement>(":scope > [data-row^=m]")) {
      const { top } = row.getBoundingClientRect();
      if (top >= edge && top < edge + box.clientHeight) return { key: row.dataset.row!, top: top - edge };
    }
    return null;
  });
}

function topOf(page: Page, key: string): Promise<number> {
  return messageList(page).evaluate((box, key) => {
    const row = box.querySelector(`:scope > [data-row="${key}"]`);
    return row === null ? Number.POSITIVE_INFINITY : row.getBoundingClientRect().top - box.getBoundingClientRect().top;
  }, key);
}
