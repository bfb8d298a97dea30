// Payloads on the start page and in Find: titles of conversations and notifications, names of schedules, messages, files and machines.

import type { Page } from "playwright-core";
import type { Client } from "../../../src/client/client.ts";
import type { Payload } from "./payloads.ts";
import { until } from "./watch.ts";

/** Home shows a few of each. */
const SHOWN = 3;
const TITLE_CHARS = 150;
const HOUR_MS = 3_600_000;

type Checks = {
  /** Looks at the page that is open. */
  page: (path: string, marks: readonly string[]) => Promise<void>;
  /** Looks at the results of Find, which are open. `isShown`: what was searched for is among them. */
  found: (what: string, isShown: boolean) => Promise<void>;
};

export async function showHome(
  { url, page, alice }: { url: string; page: Page; alice: Client },
  payloads: readonly Payload[],
  check: Checks,
): Promise<void> {
  const sound = payloads.filter(({ text }) => !/[\ud800-\udfff\0]/.test(text) && text.trim() !== "").slice(0, SHOWN);
  const pid = `init:${alice.session.identity.process.uid}`;
  const label = (text: string) => text.trim().slice(0, TITLE_CHARS);
  for (const { mark, text } of sound) {
    await alice.call("notification.create", { title: label(`n-${text}`), body: `b-${text}` });
    const schedule = { expression: { kind: "after" as const, afterMs: HOUR_MS }, target: { kind: "process.spawn" as const, prompt: "x" } };
    await alice.call("sched.add", { ...schedule, name: label(`s-${text}`) });
    const { conversation } = await alice.call("proc.conversation.open", { pid, title: label(`t-${text}`) });
    await alice.call("proc.send", { pid, conversationId: conversation.id, message: `m-${text}` });
    await alice.call("fs.write", { path: `~/found-${mark}.txt`, content: `f-${text}\n` });
  }
  await page.goto(`${url}/`);
  await check.page(
    "/",
    sound.flatMap(({ mark }) => [`n-${mark}`, `b-${mark}`, `s-${mark}`, `t-${mark}`]),
  );
  const field = page.getByRole("combobox", { name: "Find" });
  const list = page.locator("#find-list");
  await page.getByRole("button", { name: /^Find/ }).first().click();
  for (const { mark } of sound)
    for (const prefix of ["t-", "m-", "f-", "s-"]) {
      await field.fill(`${prefix}${mark}`);
      const isShown = async () => ((await list.textContent()) ?? "").includes(`${prefix}${mark}`);
      await until(isShown);
      await check.found(`Find ${prefix}${mark}`, await isShown());
    }
  await page.keyboard.press("Escape");
}
