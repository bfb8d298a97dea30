// The web desktop in a real Chromium: how long a screen takes to open once its code is there, and how evenly a conversation of 10,000
// messages scrolls. The floors are the same browser's: two frames, and a plain list of as many elements.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { fillHistory } from "../../test/support/long-history.ts";
import { desktopOf } from "../../test/support/desktop.ts";
import { startNodeHost } from "../../test/support/node-host.ts";
import { ALICE, enter, populate } from "../../test/support/people.ts";
import type { Finding } from "../report.ts";
import { type Measure, percentile } from "../stats.ts";

const SCREENS = ["Home", "Chat", "Approvals", "Schedules", "Notifications", "Machines", "Integrations", "Settings"];
const ROUNDS = 5;
const OPEN_MS = 200;
const MESSAGES = 10_000;
const FRAMES = 240;
const STEP_PX = 60;
/** Of the floor: the list renders and measures rows that it has not shown before. */
const SCROLL_GOAL = 1.5;

export async function desktop(): Promise<Finding[]> {
  const home = mkdtempSync(join(tmpdir(), "gsv-bench-desktop-"));
  try {
    const path = await prepare(home);
    const running = await desktopOf(await startNodeHost({ home }));
    try {
      const page = await running.openAs(ALICE, "/");
      await page.getByRole("link", { name: "Home" }).waitFor();
      const opened = await openScreens(page);
      await page.goto(`${running.host.url}${path}`);
      return [...opened, await scrollHistory(page)];
    } finally {
      await running.close();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns the address of a conversation with that many messages. */
async function prepare(home: string): Promise<string> {
  const host = await startNodeHost({ home });
  await populate(host);
  const alice = await enter(host, ALICE);
  const { pid } = await alice.call("proc.spawn", { profile: "task", label: "long" });
  await alice.call("proc.conversation.open", { pid, conversationId: "default" });
  alice.close();
  await host.close();
  fillHistory(home, pid, MESSAGES);
  return `/chat/${encodeURIComponent(pid)}/default`;
}

async function openScreens(page: Page): Promise<Finding[]> {
  const times = new Map<string, number[]>(SCREENS.map((name) => [name, []]));
  // The first round loads the code.
  for (let round = 0; round <= ROUNDS; round++)
    for (const name of SCREENS) {
      const ms = await openScreen(page, name);
      if (round > 0) times.get(name)!.push(ms);
    }
  const floor = measureOf(await frames(page, ROUNDS * 2, 0, "none"));
  return SCREENS.map((name) => {
    const gateway = measureOf(times.get(name)!);
    const ratio = (gateway.p50Ms ?? 0) / Math.max(1, floor.p50Ms ?? 1);
    return { bench: `open ${name}`, gateway, floor, ratio, goal: `< ${OPEN_MS} ms`, pass: gateway.maxMs! < OPEN_MS };
  });
}

/** From the press to the frame that shows the screen with what it has read. */
function openScreen(page: Page, name: string): Promise<number> {
  return page.evaluate(async (name) => {
    const link = [...document.querySelectorAll<HTMLAnchorElement>(".bar-place")].find((one) => one.title === name)!;
    const began = performance.now();
    link.click();
    const isThere = () =>
      link.getAttribute("aria-current") === "page" &&
      document.querySelector(".pane-body")!.childElementCount > 0 &&
      document.querySelector(".pane-body .skeleton") === null;
    do await new Promise(requestAnimationFrame);
    while (!isThere());
    return performance.now() - began;
  }, name);
}

async function scrollHistory(page: Page): Promise<Finding> {
  await page.getByText(`message ${MESSAGES}.`).waitFor();
  const gateway = measureOf(await frames(page, FRAMES, STEP_PX, "[role=log]"));
  const floor = measureOf(await frames(page, FRAMES, STEP_PX, "plain"));
  const ratio = gateway.p99Ms! / Math.max(1, floor.p99Ms!);
  return { bench: `scroll ${MESSAGES} messages`, gateway, floor, ratio, goal: `p99 < ${SCROLL_GOAL}x`, pass: ratio < SCROLL_GOAL };
}

/** The intervals between frames while a box scrolls upwards, or while nothing happens. */
function frames(page: Page, count: number, stepPx: number, what: "none" | "plain" | "[role=log]"): Promise<number[]> {
  return page.evaluate(
    async ({ count, stepPx, what, messages }) => {
      const frame = () => new Promise<number>(requestAnimationFrame);
      let box = what === "[role=log]" ? document.querySelector<HTMLElement>(what) : null;
      while (box !== null && box.scrollHeight <= box.clientHeight) box = box.parentElement;
      if (what === "plain") {
        box = document.createElement("div");
        Object.assign(box.style, { position: "fixed", inset: "0", overflow: "auto", background: "white" });
        for (let at = 0; at < messages; at++) box.appendChild(document.createElement("p")).textContent = `message ${at}`;
        document.body.append(box);
        box.scrollTop = box.scrollHeight;
        await frame();
      }
      /** The number of the message at the top. Positions change when older messages are added above. */
      const firstShown = () => {
        const { top } = box!.getBoundingClientRect();
        const rows = [...box!.querySelectorAll("p")].filter(
          (row) => /message \d+/.test(row.textContent) && row.getBoundingClientRect().bottom > top,
        );
        return Number(/message (\d+)/.exec(rows[0]?.textContent ?? "")?.[1]);
      };
      const started = box === null ? 0 : firstShown();
      const intervals: number[] = [];
      let last = await frame();
      for (let at = 0; at < count; at++) {
        if (box !== null) box.scrollTop -= stepPx;
        const now = await frame();
        intervals.push(now - last);
        last = now;
      }
      if (box !== null && !(started - firstShown() >= 50)) throw new Error(`It scrolled by ${started - firstShown()} messages only`);
      if (what === "plain") box!.remove();
      return intervals;
    },
    { count, stepPx, what, messages: MESSAGES },
  );
}

function measureOf(times: readonly number[]): Measure {
  const sorted = times.toSorted((a, b) => a - b);
  return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99), maxMs: sorted.at(-1)! };
}
