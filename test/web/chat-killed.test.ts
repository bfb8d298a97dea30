// A gateway is killed during an answer and restarted: the page that stayed open shows the same as a freshly opened page.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { deferred } from "../../src/lib/deferred.ts";
import { conversationRows, messageField, messageList } from "../support/chat-page.ts";
import { desktopOf } from "../support/desktop.ts";
import type { Host } from "../support/host.ts";
import { ScriptedModel, says } from "../support/models/scripted.ts";
import { ALICE, enter, populate, ROOT } from "../support/people.ts";
import { steadyPort } from "../support/steady-port.ts";
import { Gateway } from "../trust/crash/gateway.ts";

const BUILT = fileURLToPath(new URL("../../dist", import.meta.url));
const ANSWER = `Once upon a time ${"there was a gateway ".repeat(30)}and it came back.`;

test("a page that stayed open through a gateway restart during an answer equals a fresh page", async () => {
  const home = mkdtempSync(join(tmpdir(), "gsv-killed-"));
  const port = await steadyPort();
  const model = await ScriptedModel.start();
  let gateway = new Gateway(BUILT, home, {}, port);
  const host: Host = {
    name: "node",
    url: (await gateway.ready)!,
    setupCode: null,
    restart: () => Promise.resolve(),
    close: () => gateway.kill(),
  };
  await populate(host);
  const root = await enter(host, ROOT);
  await model.serve(root, 1000);
  root.close();
  const desktop = await desktopOf(host);
  try {
    // Half of the answer before the kill; all of it on the retry after the restart.
    let history: HeldHistory | null = null;
    model.on("hello", says("Hello.")).otherwise(says("Goodbye."));
    model.on(/^tell me a story/, async () => {
      if (history === null) return { hang: true, script: says(ANSWER), after: 3_000 };
      // An answer that is over before the page follows again would be in the history alone.
      await history.isRequested;
      return says(ANSWER);
    });
    const page = await desktop.openAs(ALICE, "/chat");
    await messageField(page).fill("hello");
    await messageField(page).press("Enter");
    await messageList(page).getByText("Hello.").waitFor();
    await messageField(page).fill("tell me a story");
    await messageField(page).press("Enter");
    await messageList(page).getByText("Once upon a time").waitFor();
    await messageField(page).fill("and good night");
    await messageField(page).press("Enter");
    await page.getByRole("region", { name: "Queued messages" }).getByText("and good night").waitFor();

    // The page reads the history only after the answer has restarted, while it still shows the partial answer.
    const held = await holdHistory(page);
    await gateway.kill();
    await page.getByText("Connection lost").waitFor();
    // A message sent meanwhile is delivered once, after the reconnect.
    await messageField(page).fill("are you back?");
    await messageField(page).press("Enter");
    await messageList(page).getByRole("article", { name: "You, being sent" }).getByText("are you back?").waitFor();
    history = held;
    gateway = new Gateway(BUILT, home, {}, port);
    expect(await gateway.ready).toBe(host.url);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await messageList(page).getByText("and it came back.").waitFor();
    // The answer that starts again replaces what had arrived of it.
    expect(await messageList(page).getByRole("article").filter({ hasText: "Once upon a time" }).count()).toBe(1);
    held.release();
    await messageList(page)
      .getByRole("article", { name: /^You, [\d:]+/ })
      .filter({ hasText: "are you back?" })
      .waitFor();
    await expect.poll(async () => (await conversationRows(page)).at(-1)).toBe("Goodbye.");
    await messageList(page).getByText("The agent is working").waitFor({ state: "detached" });
    await page.getByRole("region", { name: "Queued messages" }).waitFor({ state: "detached" });

    const fresh = await desktop.openAs(ALICE, "/chat");
    await expect.poll(() => conversationRows(fresh)).toEqual(await conversationRows(page));
    // One or two goodbyes, depending on whether the two queued messages were answered together.
    const said = (await conversationRows(fresh)).filter((text) => text !== "Goodbye.");
    expect(said).toEqual(["hello", "Hello.", "tell me a story", ANSWER, "and good night", "are you back?"]);
  } finally {
    await desktop.close();
    await model.close();
    rmSync(home, { recursive: true, force: true });
  }
});

type HeldHistory = {
  /** Resolves when the page reads the history, so it follows the process by then. */
  isRequested: Promise<void>;
  release(): void;
};

/** Holds answers to proc.history on sockets that the page opens from now on. */
async function holdHistory(page: Page): Promise<HeldHistory> {
  const held: (() => void)[] = [];
  const request = deferred();
  let isReleased = false;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer();
    const ids = new Set<string>();
    socket.onMessage((text) => {
      const { call, id } = parseFrame(text);
      if (call === "proc.history" && id !== undefined) {
        ids.add(id);
        request.resolve();
      }
      server.send(text);
    });
    server.onMessage((text) => {
      const { type, id } = parseFrame(text);
      if (isReleased || type !== "res" || id === undefined || !ids.has(id)) socket.send(text);
      else held.push(() => socket.send(text));
    });
  });
  return {
    isRequested: request.promise,
    release() {
      isReleased = true;
      for (const send of held) send();
    },
  };
}

/** The keepalive, "ping" and "pong", is not JSON. */
function parseFrame(text: string | Buffer): { type?: string; call?: string; id?: string } {
  const frame = String(text);
  return frame.startsWith("{") ? (JSON.parse(frame) as { type?: string; call?: string; id?: string }) : {};
}
