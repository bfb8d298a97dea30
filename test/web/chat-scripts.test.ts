// Scripts in a conversation of the web desktop, in a real browser against a real gateway with a scripted model: what a script's card
// shows while it runs, while it waits for a person, when it has ended, and after a reload.

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { userPolicyKey } from "../../src/kernel/agents/policies.ts";
import { messageField, messageList } from "../support/chat-page.ts";
import { type Desktop, PHONE, startDesktop, violationsInBothThemes, WIDE } from "../support/desktop.ts";
import { ScriptedModel, says, wants } from "../support/models/scripted.ts";
import { ALICE, enter, ROOT } from "../support/people.ts";
import { tooWide, WIDTHS } from "../support/widths.ts";

/** Reads two files, logs, and deletes a file, which the default policy asks about. */
const CODE = `// Compare two notes and remove the old one
const paths = ["~/new.md", "~/old.md"];
const texts = [];
for (const path of paths) {
  const { content } = await fs.read({ path });
  texts.push(content);
}
console.log("both were read");
console.warn("the old one goes");
await fs.delete({ path: "~/old.md" });
return { same: texts[0] === texts[1], paths };`;
const PURPOSE = "Compare two notes and remove the old one";
const WORD = "unbroken".repeat(24);

let desktop: Desktop;
let alice: Client;
let model: ScriptedModel;

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  model = await ScriptedModel.start();
  const root = await enter(desktop.host, ROOT);
  await model.serve(root, 1000);
  root.close();
});

afterAll(async () => {
  alice?.close();
  await model?.close();
  await desktop?.close();
});

test("a script shows its source, its calls, the question, its log and its result, also after a reload", async () => {
  const page = await openTask("compare");
  await start(page, "compare the notes", CODE);
  const card = cardOf(page);
  await card.getByRole("button", { name: `Run a script ${PURPOSE} 3 calls waiting for your answer` }).click();
  await card.getByRole("group", { name: "Source" }).getByText("for (const path of paths) {").waitFor();
  expect(await source(card)).toBe(CODE);
  const calls = card.getByRole("list", { name: "Calls of the script" }).getByRole("listitem");
  await expect.poll(() => words(calls)).toEqual(["Read ~/new.md done", "Read ~/old.md done", "Delete ~/old.md waiting for your answer"]);
  // The calls of a script are no messages.
  expect(await messageList(page).locator(".tool").count()).toBe(1);
  const question = page.getByRole("region", { name: /^Delete .* on the gateway\?$/ });
  await question.getByText(`the script “${PURPOSE}”`).waitFor();
  await question.getByRole("button", { name: "Allow", exact: true }).click();
  await messageList(page).getByText("It is done.").waitFor();
  await expect.poll(() => words(calls)).toEqual(["Read ~/new.md done", "Read ~/old.md done", "Delete ~/old.md done"]);
  await expectReport(card);
  await page.reload();
  await card.getByRole("button", { name: `Ran a script ${PURPOSE} 3 calls done` }).click();
  await expectReport(card);
  expect(await source(card)).toBe(CODE);
  expect(await words(calls)).toEqual(["Read ~/new.md done", "Read ~/old.md done", "Delete ~/old.md done"]);
});

test("a page that is opened while a script waits says so, names the script, and can answer", async () => {
  const page = await openTask("opened later");
  await start(page, "compare them again", CODE);
  await cardOf(page)
    .getByRole("button", { name: /waiting for your answer$/ })
    .waitFor();
  await page.reload();
  const card = cardOf(page);
  await card.getByRole("button", { name: `Run a script ${PURPOSE} waiting for your answer` }).click();
  // It is loaded when the card is opened, and moves the question: a button that moves during a press is not clicked.
  await card.getByRole("group", { name: "Source" }).waitFor();
  const question = page.getByRole("region", { name: /^Delete .* on the gateway\?$/ });
  await question.getByText(`the script “${PURPOSE}”`).waitFor();
  await question.getByRole("button", { name: "Deny", exact: true }).click();
  await messageList(page).getByText("It is done.").waitFor();
  await card.getByRole("button", { name: new RegExp(`^Ran a script ${PURPOSE} 3 calls failed`) }).waitFor();
  await card.getByRole("region", { name: "Calls", exact: true }).waitFor();
  await card.getByRole("group", { name: "Error" }).getByText("denied").waitFor();
  await card.getByRole("group", { name: "Error" }).getByText("at script.js:10").waitFor();
  const calls = card.getByRole("list", { name: "Calls of the script" }).getByRole("listitem");
  await expect.poll(() => words(calls)).toEqual(["Read ~/new.md done", "Read ~/old.md done", "Delete ~/old.md denied"]);
});

test("a failed call of a script says why, and a text that a script returns is shown as it is", async () => {
  const page = await openTask("failures");
  const code =
    'try { await fs.read({ path: "~/x", target: "nowhere" }); } catch { console.error("it failed"); }\nreturn "<b>not bold</b>\\nsecond line";';
  await start(page, "fail a little", code);
  await messageList(page).getByText("It is done.").waitFor();
  const card = cardOf(page);
  await card.getByRole("button", { name: /^Ran a script .* 1 call done/ }).click();
  await card
    .getByRole("listitem")
    .filter({ hasText: "failed" })
    .getByText(/nowhere/)
    .last()
    .waitFor();
  await card.getByText("[error] it failed").waitFor();
  expect(await card.getByRole("group", { name: "Result" }).innerText()).toBe("<b>not bold</b>\nsecond line");
});

test("a question about a script itself shows its source as code", async () => {
  const key = userPolicyKey(1000, "task");
  const policy = JSON.stringify({ default: "auto", rules: [{ match: "codemode.exec", action: "ask" }] });
  await alice.call("sys.config.set", { key, value: policy });
  try {
    const page = await openTask("asked first");
    await start(page, "ask me first", 'if (true) {\n  return "allowed";\n}');
    const question = page.getByRole("region", { name: "Run a script?" });
    expect(await question.getByRole("group", { name: "The script" }).innerText()).toBe('if (true) {\n  return "allowed";\n}');
    await question.getByRole("button", { name: "Always allow…" }).click();
    await question.getByLabel("Exactly this script").waitFor();
    expect(await question.getByLabel(/anything in/).count()).toBe(0);
    await question.getByRole("button", { name: "Back" }).click();
    await question.getByRole("button", { name: "Allow", exact: true }).click();
    await messageList(page).getByText("It is done.").waitFor();
  } finally {
    await alice.call("sys.config.set", { key, value: "" });
  }
});

test("scripts fit narrow phones, and axe finds no violations in either theme", async () => {
  const code = `// ${WORD}\nconst ${WORD} = "${"a few words ".repeat(30)}";
for (let at = 0; at < 20; at++) await fs.read({ path: "~/" + "${WORD}" });
console.error(${WORD}, "${WORD}");
await fs.delete({ path: "~/${WORD}" });
return { ${WORD} };`;
  const { pid } = await alice.call("proc.spawn", { profile: "task", label: "narrow" });
  const phone = await desktop.openAs(ALICE, `/chat/${pid}/default`, PHONE);
  await messageField(phone).waitFor();
  await start(phone, "be wide", code);
  const question = phone.getByRole("region", { name: /^Delete / });
  await question.waitFor();
  await cardOf(phone)
    .getByRole("button", { name: /^R[au]n a script/ })
    .click();
  await cardOf(phone).getByRole("list", { name: "Calls of the script" }).waitFor();
  expect(await tooWide(phone, 360, ...WIDTHS)).toEqual([]);
  await question.getByRole("button", { name: "Allow", exact: true }).click();
  await cardOf(phone).getByRole("group", { name: "Result" }).waitFor();
  expect(await tooWide(phone, 360, ...WIDTHS)).toEqual([]);
  await phone.context().close();
  for (const look of [WIDE, PHONE]) {
    const page = await desktop.openAs(ALICE, `/chat/${pid}/default`, look);
    await cardOf(page)
      .getByRole("button", { name: /^R[au]n a script/ })
      .click();
    await cardOf(page).getByRole("group", { name: "Result" }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.context().close();
  }
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});

async function openTask(label: string): Promise<Page> {
  const { pid } = await alice.call("proc.spawn", { profile: "task", label });
  const page = await desktop.goAs(ALICE, `/chat/${pid}/default`);
  await messageField(page).waitFor();
  return page;
}

/** Sends a message that the model answers with a script. */
async function start(page: Page, prompt: string, code: string): Promise<void> {
  for (const path of ["~/new.md", "~/old.md"]) await alice.call("fs.write", { target: "gsv", path, content: path });
  model.on(prompt, wants(["CodeMode", { code }]), says("It is done."));
  await messageField(page).fill(prompt);
  await messageField(page).press("Enter");
}

function cardOf(page: Page): Locator {
  return messageList(page).locator(".tool");
}

function source(card: Locator): Promise<string> {
  return card.getByRole("group", { name: "Source" }).innerText();
}

/** The words of each entry, without its duration. */
async function words(entries: Locator): Promise<string[]> {
  const texts = await entries.evaluateAll((all) =>
    all.map((one) => Array.from(one.children, (child) => child.textContent.trim()).join(" ")),
  );
  return texts.map((text) =>
    text
      .replaceAll(/\s+/g, " ")
      .replace(/ (?:\d+ ms|[\d.]+ s)$/, "")
      .trim(),
  );
}

async function expectReport(card: Locator): Promise<void> {
  const log = card.getByRole("list", { name: "Log lines" }).getByRole("listitem");
  await expect.poll(() => log.allInnerTexts()).toEqual(["both were read", "[warn] the old one goes"]);
  const result = JSON.stringify({ same: false, paths: ["~/new.md", "~/old.md"] }, null, 2);
  expect(await card.getByRole("group", { name: "Result" }).innerText()).toBe(result);
}
