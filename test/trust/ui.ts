// B24: what others wrote is only ever text on the page. 150 payloads go through every field that the desktop shows: none runs a
// script, sends a request to another server or creates an element, and invisible characters are made visible where a person
// decides. A page of another origin gets nowhere. `--payloads N` for more.

import type { Page } from "playwright-core";
import { startDesktop } from "../support/desktop.ts";
import { plugIn } from "../support/devices.ts";
import { ScriptedModel } from "../support/models/scripted.ts";
import { ALICE, enter, ROOT } from "../support/people.ts";
import { Bar, numberFlag } from "./bar.ts";
import { Canary } from "./ui/canary.ts";
import { elsewhere } from "./ui/elsewhere.ts";
import { fill, talk } from "./ui/fill.ts";
import { showHome } from "./ui/home.ts";
import { showIntegrations } from "./ui/integrations.ts";
import { payloads } from "./ui/payloads.ts";
import { showScripts } from "./ui/scripts.ts";
import { showTimes } from "./ui/times.ts";
import { showVitals } from "./ui/vitals.ts";
import { arm, harm, hiddenSigns, opened, seen } from "./ui/watch.ts";

const COUNT = numberFlag("payloads", 150);
/** As many payloads as root lists as hosts. */
const HOSTS = 40;
const bar = new Bar("B24 trust:ui");
const canary = await Canary.start();
const all = payloads(COUNT, canary.url);
const desktop = await startDesktop();
const [alice, root] = [await enter(desktop.host, ALICE), await enter(desktop.host, ROOT)];
const device = await plugIn(desktop.host, alice, "laptop", 20_000);
const model = await ScriptedModel.start();
try {
  const filled = await fill({ host: desktop.host, alice, root, payloads: all });
  const talks = await talk({ alice, root, model, payloads: all });
  /** Devices with payloads as names, each on its own page. */
  const odd = all.filter(({ mark }, at) => at % 20 === 2 && filled.devices.includes(mark)).map(({ text }) => text.slice(0, 256).trim());
  const page = await desktop.openAs(ALICE);
  await arm(page);
  await checkPage(page, "/machines", [...filled.devices, ...filled.descriptions]);
  for (const text of odd) await checkPage(page, `/machines/device/${addressOf(text)}`, [text.slice(0, 5)]);
  await showVitals({ host: desktop.host, alice }, all, (path, marks) => checkPage(page, path, marks));
  await checkPage(page, "/settings/tokens", filled.tokens);
  await checkPage(page, "/approvals", talks.questions);
  await checkPage(page, "/approvals/allowed", talks.remembered);
  await checkPage(page, "/approvals/history", talks.answered);
  await checkPage(page, "/settings/permissions", []);
  await checkPage(page, "/settings/ai", []);
  await checkPage(page, "/settings/gateway", []);
  await checkPage(page, "/chat", filled.labels.slice(0, 1));
  for (const { path, marks } of talks.conversations) await checkPage(page, path, marks, false);
  await showScripts({ url: desktop.host.url, page, alice, model }, all, (path, marks) => checkShown(page, path, marks, false));
  await showIntegrations({ host: desktop.host, page, alice, root, bar }, all, (path, marks) => checkShown(page, path, marks, true));
  await showTimes({ host: desktop.host, page, alice, bar }, all, (path, marks) => checkShown(page, path, marks, true));
  await showHome({ url: desktop.host.url, page, alice }, all, {
    page: (path, marks) => checkShown(page, path, marks, true),
    found: async (what, isShown) => {
      bar.check("payloads shown", isShown, () => `${what} is not found`);
      const found = await harm(page);
      bar.check("pages", found.length === 0, () => `${what}: ${found.slice(0, 5).join("; ")}`);
    },
  });
  await checkErrors(page);
  await page.context().close();
  const admin = await desktop.openAs(ROOT);
  await arm(admin);
  await checkPage(admin, "/settings/people", filled.users);
  await checkPage(admin, "/settings/gateway", []);
  await checkPage(admin, "/approvals", []);
  const hosts = all.filter(({ text }) => !/[\ud800-\udfff]/.test(text)).slice(0, HOSTS);
  const [key, value] = ["config/net/allowed_hosts", hosts.map(({ text }) => text).join(" ")];
  await root.call("sys.config.set", { key, value });
  await checkPage(
    admin,
    "/settings/network",
    hosts.map(({ mark }) => mark),
  );
  await root.call("sys.config.set", { key, value: "" });
  await admin.context().close();
  bar.check("remote requests", canary.hits.length === 0, () => `asked for: ${canary.hits.join(", ")}`);
  const problems = desktop.problems.filter((problem) => !/Failed to load resource/.test(problem));
  bar.check("problems of pages", problems.length === 0, () => problems.slice(0, 5).join("\n"));
  desktop.problems.length = 0;
  await elsewhere(bar, desktop, canary);
} finally {
  device.close();
  for (const client of [alice, root]) client.close();
  await desktop.close();
  await model.close();
  await canary.close();
}
bar.end();

/** Opens a page with all of these on it: each is there as text and did no harm. `isJudged`: a person decides by this page. */
async function checkPage(page: Page, path: string, marks: readonly string[], isJudged = true): Promise<void> {
  await page.goto(`${desktop.host.url}${path}`);
  await checkShown(page, path, marks, isJudged);
}

/** The same for the page that is open. */
async function checkShown(page: Page, path: string, marks: readonly string[], isJudged: boolean): Promise<void> {
  await opened(page);
  const missing = await seen(page, marks);
  for (const mark of marks) bar.check("payloads shown", !missing.includes(mark), () => `${path}: ${mark} is not on the page`);
  const found = await harm(page);
  bar.check("pages", found.length === 0, () => `${path}: ${found.slice(0, 5).join("; ")}`);
  if (!isJudged) return;
  const hidden = await hiddenSigns(page);
  bar.check("pages without hidden signs", hidden.length === 0, () => `${path}: ${hidden.slice(0, 5).join("; ")}`);
}

/** The gateway's error about an unknown call, which repeats the name that was tried. */
async function checkErrors(page: Page): Promise<void> {
  await page.goto(`${desktop.host.url}/settings/permissions`);
  await opened(page);
  await page.getByLabel("What an agent wants to do").selectOption("Another call…");
  for (const { mark, text } of all.filter((_, at) => at % 10 === 0)) {
    await page.getByLabel("Call", { exact: true }).fill(text.slice(0, 120));
    const missing = await seen(page, [mark]);
    bar.check("payloads shown", missing.length === 0, () => `failure: ${mark} is not on the page`);
  }
  const found = await harm(page);
  bar.check("pages", found.length === 0, () => `failures: ${found.slice(0, 5).join("; ")}`);
}

/** Encodes as the desktop does (frame/route.ts). */
function addressOf(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}
