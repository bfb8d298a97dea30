// Chat in the web desktop, in a real browser against a real gateway: first with the demo model, then with a scripted model.

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { conversationRows, messageField, messageList } from "../support/chat-page.ts";
import { type Desktop, focusByKey, PHONE, startDesktop, violationsInBothThemes, WIDE } from "../support/desktop.ts";
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

  test("a tool call is a card that opens", async () => {
    const page = await openTask("a card");
    await say(page, "write a note: water the plants");
    const card = messageList(page).getByRole("button", { name: /Write .*water-the-plants\.md.*done/ });
    await card.click();
    await messageList(page).getByRole("definition").getByText("water the plants", { exact: true }).waitFor();
    await messageList(page).getByRole("group", { name: "Output" }).getByText("water-the-plants.md").waitFor();
  });

  test("a command on a machine needs approval, and only a deliberate press answers", async () => {
    const page = await openTask("a question");
    await say(page, "run echo from-the-laptop on laptop");
    const question = messageList(page).getByRole("region", { name: "Allow Shell on laptop?" });
    await question.getByText("input: echo from-the-laptop").waitFor();
    const allow = question.getByRole("button", { name: "Allow once" });
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
      .getByRole("button", { name: /Shell echo from-the-laptop laptop done/ })
      .click();
    await messageList(page).getByRole("group", { name: "Output" }).getByText("from-the-laptop").waitFor();
  });

  test("a denial takes a reason, and a grant takes a scope and a duration", async () => {
    const page = await openTask("answers");
    await say(page, "run echo one on laptop");
    const question = messageList(page).getByRole("region", { name: "Allow Shell on laptop?" });
    await press(question.getByRole("button", { name: "Deny…" }));
    await question.getByLabel("Reason, for the agent").fill("not on a Sunday");
    await press(question.getByRole("button", { name: "Deny", exact: true }));
    await messageList(page)
      .getByRole("button", { name: /Shell echo one laptop denied/ })
      .click();
    await messageList(page).getByRole("group", { name: "Output" }).getByText("not on a Sunday").waitFor();

    await say(page, "run echo two on laptop");
    await press(question.getByRole("button", { name: "Allow for a day…" }));
    await question.getByLabel("Any command").check();
    await question.getByLabel("For how long").selectOption("8");
    await press(question.getByRole("button", { name: "Allow", exact: true }));
    await page.getByText("Remembered:").waitFor();
    await say(page, "run echo three on laptop");
    await messageList(page)
      .getByRole("button", { name: /Shell echo three laptop done/ })
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
    await menu(page, "Close");
    await page.getByText("This conversation is closed").waitFor();
    await page.getByRole("button", { name: "Open the conversation again" }).click();
    await messageField(page).waitFor();
    await menu(page, "Reset");
    await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
    await page.getByRole("heading", { name: "What shall be done?" }).waitFor();
  });

  test("a task is started with a profile, and ended", async () => {
    const page = await desktop.goAs(ALICE, "/chat");
    await page.getByRole("button", { name: "New task" }).click();
    await page.getByLabel("What is to be done").fill("help");
    await page.getByLabel("Name", { exact: true }).fill("A small task");
    await page.getByRole("button", { name: "Start" }).click();
    await messageList(page).getByText("I only know a few plain requests").waitFor();
    await page.getByRole("link", { name: "A small task" }).waitFor();
    await menu(page, "End the agent");
    await page.getByRole("button", { name: "End it" }).click();
    await page.getByRole("heading", { name: "What shall be done?" }).waitFor();
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
    const allow = messageList(page).getByRole("button", { name: "Allow once" });
    await expect.poll(() => allow.isEnabled()).toBe(true);
    for (let tabs = 0; tabs < 40 && !(await allow.evaluate((one) => one === document.activeElement)); tabs++)
      await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await messageList(page)
      .getByRole("button", { name: /Shell echo by-keyboard laptop done/ })
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
      await expect.poll(() => messageList(page).getByRole("button", { name: "Allow once" }).isEnabled()).toBe(true);
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
      await messageList(one).getByText("Stopped here").waitFor();
      await waitUntilIdle(one);
      expect(await messageList(one).getByText("Once upon a time").count()).toBe(1);
      expect((await conversationRows(one)).filter((text) => text === "tell me a story")).toHaveLength(1);
    }
    await second.close();
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
    const queue = page.getByRole("region", { name: "Waiting messages" });
    await queue.getByText("2 wait to be said").waitFor();
    await queue.getByRole("listitem").filter({ hasText: "never mind" }).getByRole("button", { name: "Take this message back" }).click();
    await queue.getByText("never mind").waitFor({ state: "detached" });
    await queue.getByRole("button", { name: "Edit this message" }).click();
    await queue.getByLabel("Waiting message").fill("the second");
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
  });

  test("an unsent draft survives a reload, for each conversation", async () => {
    const page = await openTask("drafts");
    await messageField(page).fill("half a thou");
    await page.reload();
    await expect.poll(() => messageField(page).inputValue()).toBe("half a thou");
    await page.getByRole("link", { name: /Personal agent/ }).click();
    await expect.poll(() => messageField(page).inputValue()).toBe("");
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
