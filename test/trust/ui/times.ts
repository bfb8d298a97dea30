// Payloads in everything that the Schedules and Notifications screens show: names, descriptions and texts of schedules, answers and errors of
// their runs, titles, texts, levels' labels and actions of notifications, and names of browsers that get push messages. Also what the
// commands sched, crontab and notify print of them.

import type { Page } from "playwright-core";
import type { Client } from "../../../src/client/client.ts";
import type { Host } from "../../support/host.ts";
import type { Payload } from "./payloads.ts";
import type { Bar } from "../bar.ts";
import { callsByName } from "../../../src/kernel/calls/table.ts";
import { enter } from "../../support/people.ts";
import { checkCommands } from "./integrations.ts";
import { opened } from "./watch.ts";

const NAME_CHARS = 190;
const TEXT_CHARS = 2_000;
/** The page shows the beginning of a long text. */
const SHOWN_CHARS = 250;
const HOUR_MS = 60 * 60 * 1000;
/** A user has at most 20. */
const BROWSERS_MAX = 20;
const BROWSERS_EVERY = 7;
/** Each has a page of its own, of which some are looked at. */
const PAGES_EVERY = 25;

type Stage = { host: Host; page: Page; alice: Client; bar: Bar };
type Check = (path: string, marks: readonly string[]) => Promise<void>;

/** `check` looks at the page that is open; a person decides by each of them. */
export async function showTimes({ host, page, alice, bar }: Stage, payloads: readonly Payload[], check: Check): Promise<void> {
  const sound = payloads.filter(({ text }) => !/[\ud800-\udfff]/.test(text) && text.trim() !== "");
  const schedules: { id: string; mark: string }[] = [];
  for (const { mark, text } of sound) {
    const { schedule } = await alice.call("sched.add", {
      name: `n-${text.slice(0, NAME_CHARS)}`,
      description: text.slice(0, TEXT_CHARS),
      expression: { kind: "every", everyMs: HOUR_MS * 30 },
      // It fails at once, with an error that repeats the name.
      target: {
        kind: "process.spawn",
        prompt: `p-${text.slice(0, TEXT_CHARS)}`,
        workspace: { mode: "attach", workspaceId: `w-${text.slice(0, 100)}` },
      },
      notify: "failures",
    });
    schedules.push({ id: schedule.id, mark });
    await alice.call("notification.create", {
      title: `t-${text.slice(0, NAME_CHARS)}`,
      body: `b-${text.slice(0, SHOWN_CHARS)}`,
      level: "warning",
      actions: [
        { kind: "open", label: `a-${text.slice(0, 60)}`, target: text.slice(0, 500) },
        { kind: "open", label: mark, target: "javascript:alert(1)" },
        { kind: "approve", label: mark, target: mark },
      ],
    });
  }
  const looked = schedules.filter((_, at) => at % PAGES_EVERY === 0);
  for (const { id } of looked) await alice.call("sched.run", { id, mode: "force" });
  await visit(
    "/schedules",
    sound.map(({ mark }) => `n-${mark}`),
  );
  for (const { id, mark } of looked) await visit(`/schedules/${id}`, [`n-${mark}`, `p-${mark}`, `w-${mark}`]);
  await visit(
    "/notifications",
    sound.flatMap(({ mark }) => [`t-${mark}`, `b-${mark}`]),
  );
  await showBrowsers();
  const [first] = looked;
  await checkCommands({ alice, bar }, ["sched list", `sched show ${first?.id}`, `sched history ${first?.id}`, "notify list --limit 400"]);
  for (const { id } of schedules) await alice.call("sched.remove", { id });
  const { notifications } = await alice.call("notification.list", { limit: 500 });
  for (const { notificationId } of notifications) await alice.call("notification.dismiss", { notificationId });

  /** A program may name itself as it likes when it subscribes. */
  async function showBrowsers(): Promise<void> {
    const { keys } = callsByName.get("notification.push.subscribe")!.example.args as { keys: { p256dh: string; auth: string } };
    const shown = sound.filter((_, at) => at % BROWSERS_EVERY === 0).slice(0, BROWSERS_MAX);
    const { username } = alice.session.identity.process;
    const clients = await Promise.all(
      shown.map(async ({ text }, at) => {
        const { token } = await alice.call("sys.token.create", { kind: "user" });
        const client = await enter(host, { username, token: token.token });
        const label = `d-${text.slice(0, NAME_CHARS)}`;
        await client.call("notification.push.subscribe", { endpoint: `https://push.invalid/${at}`, keys, label, level: "never" });
        return client;
      }),
    );
    await visit(
      "/settings/notifications",
      shown.map(({ mark }) => `d-${mark}`),
    );
    for (const client of clients) client.close();
    for (const { subscriptionId } of (await alice.call("notification.push.list", {})).subscriptions)
      await alice.call("notification.push.unsubscribe", { subscriptionId });
  }

  async function visit(path: string, marks: readonly string[]): Promise<void> {
    await page.goto(`${host.url}${path}`);
    await opened(page);
    await check(path, marks);
  }
}
