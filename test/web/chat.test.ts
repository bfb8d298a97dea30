// Chat in the web desktop, in a real browser against a real gateway: first with the demo model, then with a scripted model.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { conversationRows, messageField, messageList } from "../support/chat-page.ts";
import { type Desktop, focusByKey, PHONE, startDesktop, violationsInBothThemes, WIDE, hasFocus } from "../support/desktop.ts";
import { plugIn, type TestDevice } from "../support/devices.ts";
import { Pace } from "../support/models/pace.ts";
import { pieces, type Said } from "../support/models/script.ts";
import { ScriptedModel, says, toldText } from "../support/models/scripted.ts";
import { ALICE, BOB, enter, ROOT } from "../support/people.ts";

/** A red image of two by two pixels. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

let desktop: Desktop;
let alice: Client;
let laptop: TestDevice;

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  // Short commands end within their call.
  laptop = await plugIn(desktop.host, alice, "laptop", 20_000);
});

afterAll(async () => {
  laptop?.close();
  alice?.close();
  await desktop?.close();
});

describe("with the demo model", () => {
  test("a first message is answered, and a reload shows both once", async () => {
    const page = await desktop.goAs(ALICE, "/chat");
    await say(page, "help");
    await page.getByRole("article", { name: /^You/ }).getByText("help", { exact: true }).waitFor();
    await messageList(page).getByRole("listitem").filter({ hasText: "list files in ~/notes" }).waitFor();
    expect(await messageField(page).inputValue()).toBe("");
    await page.getByRole("status").filter({ hasText: "I only know a few plain requests" }).waitFor();
    await waitUntilIdle(page);
    const before = await conversationRows(page);
    await page.reload();
    await expect.poll(() => conversationRows(page)).toEqual(before);
    expect(before.filter((text) => text === "help")).toHaveLength(1);
  });

  test("an empty conversation suggests what fits, and says that the demo model answers", async () => {
    const page = await openTask("empty");
    await page.getByRole("button", { name: "Model: demo" }).locator(".badge").getByText("demo").waitFor();
    await page.getByRole("link", { name: /Choose a model/ }).waitFor();
    await page.getByRole("list", { name: "Suggestions" }).getByRole("button", { name: "run uname -a on laptop" }).click();
    expect(await messageField(page).inputValue()).toBe("run uname -a on laptop");
    await messageField(page).fill("");
  });

  test("trusted is confirmed, lets a command run that only reads, and still asks about another", async () => {
    const page = await openTask("posture");
    await page.getByRole("button", { name: "Permissions: Careful" }).click();
    // What is typed by mistake changes nothing: a space would select the radio that has the focus.
    await hasFocus(page.getByRole("radio", { name: /^Careful/ }));
    await page.getByRole("radio", { name: /^Trusted/ }).click();
    await page.getByRole("button", { name: "Trust for 24 hours" }).click();
    await page.getByRole("button", { name: /^Permissions: Trusted until/ }).waitFor();
    await say(page, "run uname -a on laptop");
    await messageList(page)
      .getByRole("button", { name: /^Ran uname -a on laptop/ })
      .waitFor();
    await say(page, "run rm -rf /tmp/never-there on laptop");
    await messageList(page)
      .getByRole("button", { name: /^Run rm -rf .* waiting for your answer/ })
      .waitFor();
    await messageField(page).press("Escape");
    await waitUntilIdle(page);
    await page.getByRole("button", { name: /^Permissions: Trusted/ }).click();
    await page.getByRole("radio", { name: /^Ask/ }).click();
    await page.getByRole("button", { name: "Permissions: Ask" }).waitFor();
    await say(page, "run uname -s on laptop");
    await messageList(page)
      .getByRole("button", { name: /^Run uname -s .* waiting for your answer/ })
      .waitFor();
  });

  test("a conversation is pinned, exported and deleted", async () => {
    const page = await openTask("kept");
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.waitForURL(/\/chat\/[^/]+\/[0-9a-f-]{36}$/);
    await say(page, "hello from the export");
    const link = page.getByRole("navigation", { name: "Agents and conversations" }).getByRole("link", { name: "hello from the export" });
    await link.waitFor();
    await waitUntilIdle(page);
    const conversations = page.locator(".conversation-link");
    await menu(page, "Pin");
    await expect.poll(() => conversations.first().innerText()).toContain("hello from the export");
    const download = page.waitForEvent("download");
    await menu(page, "Export as Markdown");
    const file = await download;
    expect(file.suggestedFilename()).toBe("hello from the export.md");
    const text = await readFile(await file.path(), "utf8");
    expect(text).toMatch(/^# hello from the export\n\n## You, [^\n]+\n\nhello from the export\n\n## Agent/);
    await menu(page, "Delete conversation");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/\/default$/);
    await link.waitFor({ state: "detached" });
  });

  test("a tool call is a card that opens", async () => {
    const page = await openTask("a card");
    await say(page, "write a note: water the plants");
    const card = messageList(page).getByRole("button", { name: /Wrote .*water-the-plants\.md.*done/ });
    await card.click();
    await messageList(page).getByRole("definition").getByText("water the plants", { exact: true }).waitFor();
    await messageList(page).getByRole("group", { name: "Output" }).getByText("water-the-plants.md").waitFor();
  });

  test("a command on a machine needs approval, and only a deliberate press answers", async () => {
    const page = await openTask("a question");
    await say(page, "run echo from-the-laptop on laptop");
    const question = page.getByRole("region", { name: "Run a command on laptop?" });
    await question.getByRole("group", { name: "The command" }).getByText("echo from-the-laptop").waitFor();
    const allow = question.getByRole("button", { name: "Allow", exact: true });
    // A scripted click and a key held from before are no approval.
    await allow.evaluate((button) => (button as HTMLButtonElement).click());
    expect(await page.evaluate(() => document.activeElement?.textContent)).not.toContain("Allow");
    await expect.poll(() => allow.isEnabled()).toBe(true);
    await allow.evaluate((button) => (button as HTMLButtonElement).click());
    await allow.focus();
    await allow.dispatchEvent("keydown", { key: "Enter", repeat: true });
    expect(await question.count()).toBe(1);
    await allow.click();
    await question.waitFor({ state: "detached" });
    await messageList(page)
      .getByRole("button", { name: /Ran echo from-the-laptop on laptop done/ })
      .click();
    await messageList(page).getByRole("group", { name: "Output" }).getByText("from-the-laptop").waitFor();
  });

  test("a denial takes a reason, and a grant takes a scope and a duration", async () => {
    const page = await openTask("answers");
    await say(page, "run echo one on laptop");
    const question = page.getByRole("region", { name: "Run a command on laptop?" });
    await press(question.getByRole("button", { name: "Deny with a reason…" }));
    await question.getByLabel("Reason").fill("not on a Sunday");
    await press(question.getByRole("button", { name: "Deny", exact: true }));
    await messageList(page)
      .getByRole("button", { name: /Run echo one on laptop You denied this/ })
      .click();
    await messageList(page).getByRole("group", { name: "Output" }).getByText("not on a Sunday").waitFor();

    await say(page, "run echo two on laptop");
    await press(question.getByRole("button", { name: "Always allow…" }));
    await question.getByLabel("Any command on laptop").check();
    await question.getByLabel("For how long").selectOption("8");
    await press(question.getByRole("button", { name: /^Allow until/ }));
    await page.getByText(/may run any command, whatever it does, on laptop until/).waitFor();
    await say(page, "run echo three on laptop");
    await messageList(page)
      .getByRole("button", { name: /Ran echo three on laptop done/ })
      .waitFor();
  });

  test("conversations are created, named after their first message, renamed, closed, reopened and reset", async () => {
    const page = await openTask("several");
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.waitForURL(/\/chat\/[^/]+\/[0-9a-f-]{36}$/);
    await say(page, "hello there");
    await page.getByRole("navigation", { name: "Agents and conversations" }).getByRole("link", { name: "hello there" }).waitFor();
    await menu(page, "Rename");
    await page.getByLabel("Title").fill("A greeting");
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { level: 1, name: "A greeting" }).waitFor();
    await menu(page, "Close conversation");
    await page.getByText("This conversation is closed").waitFor();
    await page.getByRole("button", { name: "Open the conversation again" }).click();
    await messageField(page).waitFor();
    await menu(page, "Reset conversation");
    await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
    await page.getByRole("heading", { name: "What would you like to do?" }).waitFor();
  });

  test("a task is started with a profile, and ended", async () => {
    const page = await desktop.goAs(ALICE, "/chat");
    await page.getByRole("button", { name: "New task" }).click();
    await page.getByRole("textbox", { name: "Task" }).fill("help");
    await page.getByLabel("Name", { exact: true }).fill("A small task");
    await page.getByRole("button", { name: "Start" }).click();
    await messageList(page).getByText("I only know a few plain requests").waitFor();
    await page.getByRole("link", { name: "A small task" }).waitFor();
    await menu(page, "End the agent");
    await page.getByRole("button", { name: "End it" }).click();
    await page.getByRole("heading", { name: "What would you like to do?" }).waitFor();
  });

  test("another user's agent looks like one that does not exist", async () => {
    const { pid } = await alice.call("proc.spawn", { profile: "task", label: "hers" });
    for (const address of [pid, "never"]) {
      const page = await desktop.goAs(BOB, `/chat/${address}/default`);
      await page.getByRole("heading", { name: "There is no such agent" }).waitFor();
    }
  });

  test("a phone shows the list, then the conversation, and leads back", async () => {
    const page = await desktop.openAs(ALICE, "/chat", PHONE);
    await page.getByRole("link", { name: /Personal agent/ }).click();
    await messageField(page).waitFor();
    expect(await page.getByRole("navigation", { name: "Agents and conversations" }).count()).toBe(0);
    await page.getByRole("link", { name: "All agents" }).click();
    await page.getByRole("link", { name: /Personal agent/ }).waitFor();
    await page.context().close();
  });

  test("the keyboard alone is enough", async () => {
    const page = await openTask("keys");
    await page.getByRole("heading", { level: 1 }).focus();
    await focusByKey(messageField(page), "i");
    await page.keyboard.type("run echo by-keyboard on laptop");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("please");
    expect(await messageField(page).inputValue()).toBe("run echo by-keyboard on laptop\nplease");
    for (const _ of "\nplease") await page.keyboard.press("Backspace");
    await page.keyboard.press("Enter");
    const allow = page.getByRole("button", { name: "Allow", exact: true });
    await expect.poll(() => allow.isEnabled()).toBe(true);
    for (let tabs = 0; tabs < 40 && !(await allow.evaluate((one) => one === document.activeElement)); tabs++)
      await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await messageList(page)
      .getByRole("button", { name: /Ran echo by-keyboard on laptop done/ })
      .waitFor();
    await page.getByRole("heading", { level: 1 }).focus();
    await page.keyboard.press("/");
    await page.getByRole("searchbox", { name: "Words" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("searchbox", { name: "Words" }).waitFor({ state: "detached" });
  });

  test("axe finds no violations in either theme, on a wide screen and a phone", async () => {
    const { pid } = await alice.call("proc.spawn", { profile: "task", label: "looks" });
    for (const message of ["help", "write a note: axes", "run echo look on laptop"]) await alice.call("proc.send", { pid, message });
    for (const look of [WIDE, PHONE]) {
      const page = await desktop.openAs(ALICE, `/chat/${pid}/default`, look);
      await expect.poll(() => page.getByRole("button", { name: "Allow", exact: true }).isEnabled()).toBe(true);
      expect(await violationsInBothThemes(page)).toEqual([]);
      await page.getByRole("button", { name: /^Model: / }).click();
      await page.getByRole("option").first().waitFor();
      expect(await violationsInBothThemes(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Permissions: / }).click();
      await page.getByRole("radio", { name: /^Trusted/ }).click();
      await page.getByRole("button", { name: "Trust for 24 hours" }).waitFor();
      expect(await violationsInBothThemes(page)).toEqual([]);
      await page.context().close();
    }
  });
});

describe("with a scripted model", () => {
  let model: ScriptedModel;

  beforeAll(async () => {
    model = await ScriptedModel.start();
    const root = await enter(desktop.host, ROOT);
    await model.serve(root, 1000);
    root.close();
    model.provider.pages.set("/v1/models", { object: "list", data: ["other-model", model.name].map((id) => ({ id, object: "model" })) });
  });

  afterAll(() => model?.close());

  test("a streaming answer is visible, also to a second tab that opens during it, and the partial answer stays in both when it is stopped", async () => {
    model.on("tell me a story", { hang: true, script: says(`Once upon a time ${"there was a word ".repeat(40)}the end`), after: 2_000 });
    const page = await openTask("coming");
    await say(page, "tell me a story");
    await messageList(page).getByText("Once upon a time").waitFor();
    const second = await page.context().newPage();
    await second.goto(page.url());
    await messageList(second).getByText("Once upon a time").waitFor();
    expect(await messageList(second).getByText("the end").count()).toBe(0);
    await messageField(page).press("Escape");
    for (const one of [page, second]) {
      await messageList(one).getByText("Stopped", { exact: true }).waitFor();
      await waitUntilIdle(one);
      expect(await messageList(one).getByText("Once upon a time").count()).toBe(1);
      expect((await conversationRows(one)).filter((text) => text === "tell me a story")).toHaveLength(1);
    }
    await second.close();
  });

  test("a slow answer says what it waits for, is stopped from there, keeps its text, and is retried with another model", async () => {
    const pace = new Pace();
    model.on("take your time", { paced: { say: [{ type: "thinking", text: "Hmm." }, ...says("It begins slowly. ".repeat(8)).say] }, pace });
    const page = await openTask("slow");
    await say(page, "take your time");
    const working = messageList(page).locator(".working");
    await working.getByText(`Waiting for ${model.name}`).waitFor();
    pace.allow(2);
    await working.getByText(/^Thinking/).waitFor();
    pace.allow(4);
    await working.getByText(/^Answering.*about \d+ tokens/).waitFor();
    await working.getByRole("button", { name: "Stop" }).click();
    await messageList(page).getByText("Stopped", { exact: true }).waitFor();
    await messageList(page).getByText("It begins slowly.").waitFor();
    await waitUntilIdle(page);

    model.on("take your time", says("Here it is."));
    await page.getByRole("button", { name: "Retry with another model" }).click();
    await page.getByRole("option", { name: /^other-model/ }).click();
    await messageList(page).getByText("Here it is.").waitFor();
    expect(model.asked.at(-1)!.body.model).toBe("other-model");
    await waitUntilIdle(page);
    expect((await conversationRows(page)).filter((text) => text === "take your time")).toHaveLength(1);
    expect(await messageList(page).getByText("It begins slowly.").count()).toBe(0);

    await menu(page, "Earlier versions");
    const from = page.url();
    await page.getByRole("dialog").getByText("take your time").waitFor();
    await page.getByRole("dialog").getByText("and 1 more message").waitFor();
    await page.getByRole("button", { name: "Open as a new conversation" }).click();
    await page.waitForURL((url) => url.href !== from);
    await messageList(page).getByText("It begins slowly.").waitFor();
  });

  test("the model of a conversation is chosen by keyboard, and stays", async () => {
    model.on("who is there?", says("it is me"));
    const page = await openTask("models");
    const picker = page.getByRole("button", { name: /^Model: / });
    await picker.getByText(model.name).waitFor();
    await picker.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: new RegExp(`^${model.name}.*default`) }).waitFor();
    await hasFocus(page.getByRole("listbox", { name: "Models" }));
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Model: other-model" }).waitFor();
    await say(page, "who is there?");
    await messageList(page).getByText("it is me").waitFor();
    expect(model.asked.at(-1)!.body.model).toBe("other-model");
    await page.reload();
    await page.getByRole("button", { name: "Model: other-model" }).waitFor();
  });

  test("a message is edited and sent again in its place", async () => {
    model.on("name a colr", says("which one?")).on("name a colour", says("green, of course"));
    const page = await openTask("editing");
    await say(page, "name a colr");
    await messageList(page).getByText("which one?").waitFor();
    await waitUntilIdle(page);
    await messageList(page).getByRole("article", { name: /^You/ }).hover();
    await page.getByRole("button", { name: "Edit and resend" }).click();
    await page.getByRole("textbox", { name: "Edit the message" }).fill("name a colour");
    await page.keyboard.press("Enter");
    await messageList(page).getByText("green, of course").waitFor();
    await waitUntilIdle(page);
    expect(await messageList(page).getByText("name a colr").count()).toBe(0);
    expect(toldText(model.asked.at(-1)!)).not.toContain("which one?");
  });

  test("formulas are MathML without anything the policy blocks; prices and malformed ones are text", async () => {
    const answer =
      String.raw`So $E = mc^2$, for $5 and $10, and $\frac{1$ is wrong.` + "\n\n$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$";
    model.on("show me a formula", says(answer));
    const page = await openTask("formulas");
    await say(page, "show me a formula");
    const text = messageList(page).locator(".md");
    await text.locator("math").last().waitFor();
    expect(await text.locator("math").count()).toBe(2);
    expect(await text.locator("math msup").count()).toBe(1);
    expect(await text.locator("math mtr").count()).toBe(2);
    await text.getByText(String.raw`, for $5 and $10, and $\frac{1$ is wrong.`).waitFor();
    const copied = await text.evaluate((element) => {
      getSelection()!.selectAllChildren(element);
      const clipboardData = new DataTransfer();
      document.dispatchEvent(new ClipboardEvent("copy", { clipboardData }));
      return clipboardData.getData("text/plain");
    });
    expect(copied).toContain("So $E = mc^2$, for $5");
  });

  test("an answer grows with every piece of its reasoning, text and tool arguments, also after a reconnect", async () => {
    const reasoning = "First the question, then the facts, and the answer last of all.";
    const text =
      "# How it grows\n\nA paragraph with **bold words** and `code`, as long as it takes.\n\n- one entry of a list\n- another entry of it\n\n" +
      "```js\nconst sum = 1 + 2;\nconsole.log(sum);\n```\n\nAnd a last paragraph after all of that, so that it goes on for a while.";
    const args = JSON.stringify({ path: "~/a-file-that-nobody-has-ever-written.md", target: "gsv" });
    const said: Said[] = [
      { type: "thinking", text: reasoning },
      { type: "text", text },
      { type: "call", id: "call_slow", name: "Read", args },
    ];
    // The first event only announces an answer.
    const pace = new Pace(1);
    model.on("answer slowly", { paced: { say: said }, pace }, says("There is no such file."));
    const first = await openTask("growing");
    const page = await first.context().newPage();
    const line = await routeConnection(page);
    await page.goto(first.url());
    await say(page, "answer slowly");
    const answer = messageList(page).getByRole("article", { name: "Agent, answering" });
    /** Releases each piece once the one before it is visible. */
    const grow = async (shown: Locator, count: number) => {
      for (let piece = 0; piece < count; piece++) {
        const before = await lengthOf(shown);
        pace.allow();
        await expect.poll(() => lengthOf(shown), { interval: 20 }).toBeGreaterThan(before);
      }
    };
    pace.allow();
    await answer.getByRole("button", { name: "Thinking" }).click();
    await grow(answer.locator(".thoughts-text"), pieces(reasoning).length - 1);
    const half = Math.floor(pieces(text).length / 2);
    expect(half).toBeGreaterThanOrEqual(7);
    await grow(answer.locator(".md"), half);
    line.cut();
    await grow(answer.locator(".md"), pieces(text).length - half);
    pace.allow();
    await answer.getByRole("button", { name: /^Read/ }).click();
    await grow(answer.locator(".tool-body"), pieces(args).length);
    pace.allow(Number.POSITIVE_INFINITY);
    await messageList(page).getByText("There is no such file.").waitFor();
    expect(line.opened).toBe(2);
    await page.close();
  });

  test("two tabs show the same messages once, whichever tab sends", async () => {
    model.on("from the first", says("first answer")).on("from the second", says("second answer"));
    const page = await openTask("two tabs");
    const second = await page.context().newPage();
    await second.goto(page.url());
    await say(page, "from the first");
    await messageList(second).getByText("first answer").waitFor();
    await say(second, "from the second");
    await messageList(page).getByText("second answer").waitFor();
    await Promise.all([waitUntilIdle(page), waitUntilIdle(second)]);
    expect(await conversationRows(page)).toEqual(await conversationRows(second));
    expect((await conversationRows(page)).filter((text) => text.startsWith("from the"))).toEqual(["from the first", "from the second"]);
    await second.close();
  });

  test("queued messages are shown, can be edited and withdrawn, and are delivered once", async () => {
    const release = model.holds("the first", says("done with the first"));
    model.on("the second", says("done with the rest"));
    const page = await openTask("waiting");
    await say(page, "the first");
    await messageList(page).getByText("the first", { exact: true }).waitFor();
    await say(page, "the secnd");
    await say(page, "never mind");
    const queue = page.getByRole("region", { name: "Queued messages" });
    await queue.getByText("2 queued").waitFor();
    await queue.getByRole("listitem").filter({ hasText: "never mind" }).getByRole("button", { name: "Remove this message" }).click();
    await queue.getByText("never mind").waitFor({ state: "detached" });
    await queue.getByRole("button", { name: "Edit this message" }).click();
    await queue.getByLabel("Queued message").fill("the second");
    await queue.getByRole("button", { name: "Save" }).click();
    await queue.getByText("the second").waitFor();
    release();
    await messageList(page).getByText("done with the rest").waitFor();
    await queue.waitFor({ state: "detached" });
    await waitUntilIdle(page);
    expect((await conversationRows(page)).filter((text) => text.startsWith("the "))).toEqual(["the first", "the second"]);
    expect(toldText(model.asked.at(-1)!)).toContain("the second");
  });

  test("an image can be dropped, removed, dropped again and is shown after it was sent", async () => {
    model.on(/^what colour is this\?/, says("I see red"));
    const page = await openTask("a picture");
    const files = page.getByRole("list", { name: "Files to be sent along" });
    await drop(page, "red.png", PNG);
    await files.getByText("red.png").waitFor();
    await files.getByRole("button", { name: "Leave out red.png" }).click();
    await files.waitFor({ state: "detached" });
    await drop(page, "red.png", PNG);
    await files.getByText(/^\d+ B$/).waitFor();
    await say(page, "what colour is this?");
    await messageList(page).getByText("I see red").waitFor();
    const picture = messageList(page).getByRole("img", { name: "red.png", exact: true });
    await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(2);
  });

  test("a search finds words and scrolls to them, and a conversation can be forked at any message", async () => {
    model.on("Name a parrot", says("a yellow one")).on("And another", says("a blue one"));
    const page = await openTask("searching");
    await say(page, "Name a parrot");
    await messageList(page).getByText("a yellow one").waitFor();
    await say(page, "And another");
    await messageList(page).getByText("a blue one").waitFor();
    await page.getByRole("button", { name: "Search this conversation" }).click();
    await page.getByRole("searchbox", { name: "Words" }).fill("YELLOW");
    await page.getByRole("button", { name: /Agent .* a yellow one/ }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });

    const answer = messageList(page)
      .getByRole("article", { name: /^Agent/ })
      .filter({ hasText: "a yellow one" });
    await answer.hover();
    await answer.getByRole("button", { name: "Time and cost" }).click();
    await answer.getByText(/in, .* out/).waitFor();
    const from = page.url();
    await answer.getByRole("button", { name: "Fork from here" }).click();
    await page.waitForURL((url) => url.href !== from);
    await messageList(page).getByText("a yellow one").waitFor();
    expect(await messageList(page).getByText("a blue one").count()).toBe(0);
  });

  test("archived messages leave a marker that opens in place", async () => {
    model.on("one story", says("about the sea")).on("another story", says("about the hills"));
    const page = await openTask("archives");
    await say(page, "one story");
    await messageList(page).getByText("about the sea").waitFor();
    await say(page, "another story");
    await messageList(page).getByText("about the hills").waitFor();
    await waitUntilIdle(page);
    await menu(page, "Compact older messages");
    await page.getByLabel("Newest messages to keep").fill("2");
    await page.getByLabel("Written by you").check();
    await page.getByLabel("Your summary").fill("There was a story.");
    await page.getByRole("button", { name: "Compact", exact: true }).click();
    const archive = messageList(page).getByRole("region", { name: "Archived messages" });
    await archive.getByRole("button", { name: "Show them" }).click();
    await archive.getByText("about the sea").waitFor();
    await messageList(page).getByText("about the hills").waitFor();
  });

  test("a failed run says why and what to do, also after a reload", async () => {
    model.on("are you there?", { status: 401 });
    const page = await openTask("a failure");
    await say(page, "are you there?");
    const failure = messageList(page).getByRole("article", { name: "A run ended with an error" });
    await failure.getByText("Check the key and the provider in Settings").waitFor();
    await page.reload();
    await failure.getByText("Check the key and the provider in Settings").waitFor();
    expect(await failure.getByRole("link", { name: "Open settings" }).getAttribute("href")).toBe("/settings/ai");
    model.on("are you there?", says("I am back"));
    await failure.getByRole("button", { name: "Retry" }).click();
    await messageList(page).getByText("I am back").waitFor();
    await failure.waitFor({ state: "detached" });
  });

  test("an unsent draft survives a reload, for each conversation", async () => {
    const page = await openTask("drafts");
    await messageField(page).fill("half a thou");
    await page.reload();
    await expect.poll(() => messageField(page).inputValue()).toBe("half a thou");
    await page.getByRole("link", { name: /Personal agent/ }).click();
    await expect.poll(() => messageField(page).inputValue()).toBe("");
  });

  test("a message that was not confirmed before the page was closed is offered again, beside what was written since", async () => {
    const first = await openTask("unconfirmed");
    const page = await first.context().newPage();
    let isDown = false;
    await page.routeWebSocket(/\/ws$/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => (isDown ? undefined : server.send(message)));
    });
    await page.goto(first.url());
    await messageField(page).waitFor();
    await waitUntilIdle(page);
    isDown = true;
    await say(page, "the first of two");
    await messageList(page).getByRole("article", { name: "You, being sent" }).waitFor();
    await messageField(page).fill("the second, half writ");
    isDown = false;
    await page.reload();
    const unsent = messageList(page).getByRole("article", { name: "You, not sent" });
    await unsent.getByText("the first of two").waitFor();
    expect(await messageField(page).inputValue()).toBe("the second, half writ");
    await unsent.getByRole("button", { name: "Send again" }).click();
    await messageList(page)
      .getByRole("article", { name: /^You, \d/ })
      .filter({ hasText: "the first of two" })
      .waitFor();
    await page.reload();
    await messageList(page).getByText("the first of two").waitFor();
    expect(await messageList(page).getByText("the first of two").count()).toBe(1);
    await page.close();
  });

  test("a file that cannot be read any more keeps the message from being sent, and what is attached stays beside other conversations", async () => {
    const folder = mkdtempSync(join(tmpdir(), "gsv-attached-"));
    const [gone, kept] = [join(folder, "gone.txt"), join(folder, "kept.txt")];
    for (const path of [gone, kept]) writeFileSync(path, "text");
    const page = await openTask("attaching");
    await page.locator("input[type=file]").setInputFiles([gone, kept]);
    await messageField(page).fill("read these");
    await page.getByRole("link", { name: /Personal agent/ }).click();
    await page.getByRole("list", { name: "Files to be sent along" }).waitFor({ state: "detached" });
    await page.goBack();
    await page.getByRole("list", { name: "Files to be sent along" }).getByText("gone.txt").waitFor();
    rmSync(gone);
    await messageField(page).press("Enter");
    await page.getByText("gone.txt cannot be read: it was moved or changed. Leave it out, or add it again.").waitFor();
    expect(await messageField(page).inputValue()).toBe("read these");
    await page.getByRole("button", { name: "Leave out gone.txt" }).click();
    await messageField(page).press("Enter");
    await messageList(page)
      .getByRole("article", { name: /^You, \d/ })
      .getByText("kept.txt")
      .waitFor();
    expect(await messageField(page).inputValue()).toBe("");
    rmSync(folder, { recursive: true });
  });

  test("an edited message that cannot be sent again stays as it was edited", async () => {
    model.on("look at this", says("nice")).on("look at that", says("nicer"));
    const first = await openTask("refused edit");
    const page = await first.context().newPage();
    let isRefusing = true;
    await page.routeWebSocket(/\/ws$/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        const frame = typeof message === "string" && message.startsWith("{") ? (JSON.parse(message) as { id: string; call: string }) : null;
        if (!isRefusing || frame?.call !== "proc.conversation.rewind") return server.send(message);
        const error = { code: 503, message: "The archive cannot be written" };
        socket.send(JSON.stringify({ type: "res", id: frame.id, ok: false, error }));
      });
    });
    await page.goto(first.url());
    await say(page, "look at this");
    await messageList(page).getByText("nice", { exact: true }).waitFor();
    await waitUntilIdle(page);
    await messageList(page).getByRole("article", { name: /^You/ }).hover();
    await page.getByRole("button", { name: "Edit and resend" }).click();
    const edit = page.getByRole("textbox", { name: "Edit the message" });
    await edit.fill("look at that");
    await edit.press("Enter");
    await messageList(page).getByText("The archive cannot be written.").waitFor();
    expect(await edit.inputValue()).toBe("look at that");
    isRefusing = false;
    await edit.press("Enter");
    await messageList(page).getByText("nicer", { exact: true }).waitFor();
    expect(await messageList(page).getByText("look at this").count()).toBe(0);
    await page.close();
  });

  test("a model's output is rendered as text and causes no requests", async () => {
    model.on(
      "write something",
      says(
        "<img src=x onerror=alert(1)> [a](javascript:alert(2)) ![b](https://evil.example/b.png) [c](https://good.example/) \n\n```html\n<script>alert(3)</script>\n```",
      ),
    );
    const page = await openTask("markup");
    await say(page, "write something");
    await messageList(page).getByText("<script>alert(3)</script>").waitFor();
    await messageList(page).getByText("<img src=x onerror=alert(1)>").waitFor();
    expect(await messageList(page).locator("img").count()).toBe(0);
    const links = await messageList(page)
      .getByRole("link")
      .evaluateAll((all) => all.map((one) => [(one as HTMLAnchorElement).href, (one as HTMLAnchorElement).rel]));
    expect(links).toEqual([
      ["https://evil.example/b.png", "noopener noreferrer nofollow"],
      ["https://good.example/", "noopener noreferrer nofollow"],
    ]);
  });
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

async function say(page: Page, text: string): Promise<void> {
  await messageField(page).fill(text);
  await messageField(page).press("Enter");
}

/** Call it before the page is opened: returns a way to cut the page's connection, and counts its connections. */
async function routeConnection(page: Page): Promise<{ cut(): void; opened: number }> {
  const line = { cut: () => {}, opened: 0 };
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer();
    line.opened += 1;
    line.cut = () => void Promise.all([socket.close({ code: 3001 }), server.close()]);
  });
  return line;
}

/** The length of the visible text; 0 if the element does not exist. */
async function lengthOf(shown: Locator): Promise<number> {
  const texts = await shown.allInnerTexts();
  return texts.join("").length;
}

/**
 * Playwright waits until the button can be pressed, as a person would. While an answer streams or a message is being sent, rows move:
 * a button that moves between the press and the release is not clicked.
 */
async function press(button: Locator): Promise<void> {
  // Only then: before there is a question, there may be no moving rows yet.
  await button.waitFor();
  const movingRows = button.page().locator('[data-row^="c"], [data-row^="o"]:not([data-row="older"])');
  await expect.poll(() => movingRows.count()).toBe(0);
  await button.click();
}

async function menu(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "What to do with this conversation" }).click();
  await page.getByRole("menuitem", { name: title, exact: true }).click();
}

/** Waits until no run is active and the history is read. */
async function waitUntilIdle(page: Page): Promise<void> {
  await messageList(page).getByText("The agent is working").waitFor({ state: "detached" });
  await page.locator("[aria-busy=true]").waitFor({ state: "detached" });
}

async function drop(page: Page, name: string, base64: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ({ name, base64 }) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], name, { type: "image/png" }));
      return data;
    },
    { name, base64 },
  );
  await page.locator("form.composer").dispatchEvent("drop", { dataTransfer: transfer });
}
