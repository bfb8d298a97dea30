// Two people use one gateway: neither sees, finds or opens anything of the other, also while it changes, and after root was at work.

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { type Desktop, openPalette, startDesktop } from "../support/desktop.ts";
import { plugIn, type TestDevice } from "../support/devices.ts";
import { ALICE, enter, ROOT } from "../support/people.ts";
import { askFor } from "../support/questions.ts";

const CAROL = { username: "carol", password: "a long enough one" };
const ABSENT = "00000000-0000-4000-8000-000000000000";

/** Screens that show some of it. */
const SHOWING = ["/", "/chat", "/approvals", "/schedules", "/notifications", "/machines"];

/** What a person has, all of it with this word in its name or text. Short enough for every list to show it whole. */
type Belongings = { word: string; addresses: { address: string; absent: string }[]; device: TestDevice; file: string };

let desktop: Desktop;
let alice: { client: Client; page: Page; has: Belongings };
let carol: { client: Client; page: Page; has: Belongings };
let paths: string[];

beforeAll(async () => {
  desktop = await startDesktop();
});

afterAll(async () => {
  for (const person of [alice, carol]) {
    person?.has.device.close();
    person?.client.close();
  }
  await desktop?.close();
});

test("root adds a user, who signs in in another browser", async () => {
  const first = await enter(desktop.host, ALICE);
  alice = { client: first, page: await desktop.openAs(ALICE), has: await furnish(first, "kumquat") };
  const bar = alice.page.getByRole("navigation", { name: "Screens" });
  await bar.waitFor();
  paths = await bar.locator("a").evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname));
  const root = await desktop.openAs(ROOT, "/settings/users");
  await root.getByRole("button", { name: "Add a user" }).click();
  const dialog = root.getByRole("dialog");
  await dialog.getByLabel("User name").fill(CAROL.username);
  await dialog.getByLabel("Password").fill(CAROL.password);
  await root.keyboard.press("Enter");
  await root.getByRole("button", { name: "Lock carol" }).waitFor();
  const page = await desktop.open();
  await page.getByLabel("User name").fill(CAROL.username);
  await page.getByLabel("Password").fill(CAROL.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  const client = await enter(desktop.host, CAROL);
  carol = { client, page, has: await furnish(client, "lemonade") };
  await root.context().close();
});

test("no screen of either shows anything of the other, and each shows their own", async () => {
  for (const [mine, theirs] of [
    [alice, carol],
    [carol, alice],
  ] as const) {
    expect(paths).toEqual(expect.arrayContaining(SHOWING));
    for (const path of paths) {
      const read = () => textAt(mine.page, path);
      // What is theirs has been loaded, so what is the other's would have been, too.
      const text = SHOWING.includes(path) ? await waitForText(read, mine.has.word) : await read();
      expect([path, text.includes(theirs.has.word)]).toEqual([path, false]);
    }
  }
});

test("an address of the other's answers like one that leads nowhere", async () => {
  for (const [mine, theirs] of [
    [alice, carol],
    [carol, alice],
  ] as const) {
    for (const { address, absent } of theirs.has.addresses) {
      const nothing = withoutName(await textAt(mine.page, absent), absent);
      await expect.poll(async () => withoutName(await textAt(mine.page, address), address), { message: address }).toBe(nothing);
      expect(withoutName(await textAt(theirs.page, address), address), "their own address shows it").not.toBe(nothing);
    }
    // Files have no addresses; an agent reads them by path.
    const answers = [];
    for (const path of [theirs.has.file, `${theirs.has.file}.not`]) {
      const read = await mine.client.call("fs.read", { path }).catch((error: Error) => ({ ok: false, error: error.message }));
      answers.push(JSON.stringify(read).replaceAll(path, "PATH"));
    }
    expect(answers[0]).toBe(answers[1]);
    expect(JSON.stringify(await theirs.client.call("fs.read", { path: theirs.has.file }))).toContain(theirs.has.word);
  }
});

test("Find finds one's own, and nothing of the other's", async () => {
  for (const [mine, theirs] of [
    [alice, carol],
    [carol, alice],
  ] as const) {
    await mine.page.goto(`${desktop.host.url}/`);
    await openPalette(mine.page);
    const field = mine.page.getByRole("combobox", { name: "Find" });
    await field.fill(mine.has.word);
    await mine.page.getByRole("option").filter({ hasText: mine.has.word }).first().waitFor();
    await field.fill(theirs.has.word);
    await mine.page.getByText("No results").waitFor();
    await mine.page.keyboard.press("Escape");
  }
});

test("what happens to one is not announced to the other, also after root has changed something of both", async () => {
  const root = await enter(desktop.host, ROOT);
  await root.call("sys.user.lock", { username: CAROL.username, locked: true });
  await root.call("sys.user.lock", { username: CAROL.username, locked: false });
  const { group } = await root.call("sys.group.create", { name: "family" });
  await root.call("sys.group.members", { gid: group.gid, members: ["alice", "carol"] });
  root.close();
  carol.client.close();
  carol.client = await enter(desktop.host, CAROL);
  // The lock has signed her out. The page remembers her name.
  await carol.page.getByLabel("Password").fill(CAROL.password);
  await carol.page.keyboard.press("Enter");
  await carol.page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  for (const [mine, theirs] of [
    [alice, carol],
    [carol, alice],
  ] as const) {
    await mine.page.goto(`${desktop.host.url}/settings/look`);
    const notices = mine.page.getByRole("region", { name: "Notices" });
    await expect.poll(() => mine.page.getByRole("navigation", { name: "Screens" }).innerText()).toMatch(/Approvals\s+\d/);
    await theirs.client.call("notification.create", { title: `${theirs.has.word} again` });
    await askFor(theirs.client, `delete ~/${theirs.has.word}-2.txt`);
    // Ordered after what happened to the other.
    await mine.client.call("notification.create", { title: `${mine.has.word} again` });
    await notices.getByText(`${mine.has.word} again`).waitFor();
    expect(await mine.page.locator("body").innerText()).not.toContain(theirs.has.word);
  }
  expect(desktop.problems).toEqual([]);
});

/** A machine, a conversation with an open question, a schedule, a notification and a file. */
async function furnish(client: Client, word: string): Promise<Belongings> {
  const { username } = client.session.identity.process;
  const device = await plugIn(desktop.host, client, `${word}-laptop`);
  const { pid } = await askFor(client, `delete ~/${word}.txt`);
  await client.call("notification.create", { title: `The ${word} is ready` });
  const { schedule } = await client.call("sched.add", {
    name: `Pick a ${word}`,
    expression: { kind: "cron", expr: "0 3 1 1 *", timezone: "UTC" },
    target: { kind: "process.spawn", prompt: `pick a ${word}` },
  });
  const file = `/home/${username}/${word}.txt`;
  await client.call("fs.write", { path: file, content: `a ${word}` });
  const addresses = [
    { address: `/machines/device/${word}-laptop`, absent: "/machines/device/nothing-laptop" },
    { address: `/chat/${pid}/default`, absent: `/chat/${ABSENT}/default` },
    { address: `/chat/${pid}`, absent: `/chat/${ABSENT}` },
    { address: `/schedules/${schedule.id}`, absent: `/schedules/${ABSENT}` },
  ];
  return { word, addresses, device, file };
}

async function waitForText(read: () => Promise<string>, word: string): Promise<string> {
  let text = "";
  await expect.poll(async () => (text = await read())).toContain(word);
  return text;
}

/** What is shown there once nothing is loading any more. */
async function textAt(page: Page, path: string): Promise<string> {
  await page.goto(`${desktop.host.url}${path}`);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await expect.poll(() => page.locator(".skeleton").count()).toBe(0);
  return page.locator("main").innerText();
}

/** The text without the name that the address contains. */
function withoutName(text: string, address: string): string {
  return address.split("/").reduce((rest, part) => (part.length > 12 ? rest.replaceAll(part, "NAME") : rest), text);
}
