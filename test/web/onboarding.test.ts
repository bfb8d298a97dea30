// Setting up a fresh gateway from a real browser: each lane to its end, what is kept and what is not, and the guide.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startDevice } from "../../src/device/device.ts";
import { leaveBrowser, takeBrowser } from "../support/browser.ts";
import { hasFocus, PHONE, violationsInBothThemes, WIDE } from "../support/desktop.ts";
import { ScriptedProvider } from "../support/models/provider.ts";
import { ADA, answers, at, chooseLane, everyStep, fillAccount, goOn, setUp, withFresh, withGuide } from "../support/onboarding.ts";
import { enter } from "../support/people.ts";
import { tooWide } from "../support/widths.ts";

const KEY = "sk-canary-000000000000";

// All tests share one browser, though each has its own gateway.
beforeAll(async () => {
  await takeBrowser();
});

afterAll(() => leaveBrowser());

describe("the quick lane", () => {
  test("leads from an open page to a first answer", async ({ annotate }) => {
    await withFresh(async (desktop) => {
      const { host, problems } = desktop;
      const startedAt = Date.now();
      const page = await desktop.open();
      await chooseLane(page, "Quick");
      await fillAccount(page);
      await setUp(page);
      expect(new URL(page.url()).pathname).toBe("/chat");
      await page.getByRole("button", { name: "What can you do?" }).click();
      await page.getByText("Demo model, not an AI").first().waitFor();
      await annotate(`from opening the page to the first answer: ${Date.now() - startedAt} ms, filled in by a script`);
      const client = await enter(host, ADA);
      await expect.poll(() => answers(client)).toContainEqual(expect.stringContaining("Demo model, not an AI"));
      client.close();
      expect(await page.getByRole("dialog").count()).toBe(0);

      const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]));
      expect(kept).not.toContain(ADA.password);
      expect(kept).not.toContain("gsv.setup");
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
      expect(await page.getByRole("dialog").count()).toBe(0);
      expect(problems).toEqual([]);
    });
  });

  test("works by keyboard alone", async () => {
    await withFresh(async (desktop) => {
      const { host } = desktop;
      const page = await desktop.open();
      await page.getByText("Quick", { exact: true }).waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await at(page, "Your account");
      await expect.poll(() => focused(page)).toBe("username");
      await page.keyboard.press("Enter");
      await page.getByText("Choose a name for yourself.").waitFor();
      await expect.poll(() => focused(page)).toBe("username");
      await page.keyboard.type(ADA.username);
      await page.keyboard.press("Tab");
      await page.keyboard.type(ADA.password);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      await page.keyboard.type(ADA.password);
      await page.keyboard.press("Enter");
      await hasFocus(page.getByRole("button", { name: "Set up this gateway" }));
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: /^Hello/ }).waitFor();
      await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("What can you do?");
      await page.keyboard.press("Enter");
      const client = await enter(host, ADA);
      await expect.poll(() => answers(client)).not.toEqual([]);
      client.close();
    });
  });
});

describe("with a model server", () => {
  let provider: ScriptedProvider;

  beforeEach(async () => {
    provider = await ScriptedProvider.start();
    provider.pages.set("/v1/models", { data: [{ id: "large" }, { id: "small" }] });
    provider.otherwise = { say: [{ type: "text", text: "ready and willing" }] };
  });

  afterEach(() => provider.close());

  test("the customize lane tests it, lists its models, and its answers arrive", async () => {
    await withFresh(async (desktop) => {
      const { host, problems } = desktop;
      const page = await desktop.open();
      await chooseLane(page, "Customize");
      await fillAccount(page);
      await at(page, "Your AI");
      await page.getByText("A server of your own", { exact: true }).click();
      await goOn(page);
      await page.getByText("Look for a server, or write its address below.").waitFor();
      await page.getByLabel("Or its address").fill(`http://${provider.host}/v1`);
      // The first two attempts are answered as if the key were missing, then wrong.
      provider.on("Answer with the single word: ready", { tries: [{ status: 401 }, { status: 401 }] });
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("asks for a key").waitFor();
      await expect.poll(() => focused(page)).toBe("apiKey");
      await page.getByLabel("Key", { exact: true }).fill(KEY);
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText("refused this key").waitFor();
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText(/^large answered in .*"ready and willing"/).waitFor();
      await page.getByLabel("Model", { exact: true }).fill("small");
      expect(await page.getByText(/answered in/).count()).toBe(0);
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByText(/^small answered in/).waitFor();
      await goOn(page);

      await at(page, "Your time zone");
      await page.getByRole("combobox", { name: "Another city" }).fill("san fran");
      await page.getByRole("option", { name: /San Francisco/ }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("America/Los_Angeles, where it is").waitFor();
      await goOn(page);
      await at(page, "Look it over");
      await page.getByText(`Your own server at http://${provider.host}/v1, small`).waitFor();
      await page.getByText(/^answered in/).waitFor();
      await setUp(page);

      await page.getByRole("button", { name: "What can you do for me here?" }).click();
      const client = await enter(host, ADA);
      await expect.poll(() => answers(client)).toContainEqual(expect.stringContaining("ready and willing"));
      client.close();
      const root = await enter(host, { username: "root", password: ADA.password });
      const { entries } = await root.call("sys.config.get", { key: "config/server/timezone" });
      expect(entries[0]?.value).toBe("America/Los_Angeles");
      root.close();
      expect(problems).toEqual([]);
    });
  });

  test("a hostile guide's output is text, and it cannot set what it may not", async () => {
    await withGuide(provider, async (desktop) => {
      const { host, problems } = desktop;
      const page = await desktop.open();
      await page.evaluate(() => Reflect.set(globalThis, "isHit", false));
      await chooseLane(page, "Quick");
      await page.getByLabel("Password", { exact: true }).fill(ADA.password);
      const evil = {
        message: `<img src=x onerror="isHit = true"><script>isHit = true</script> [click](javascript:isHit=true)`,
        reviewReady: true,
        focus: "account.password",
        patches: [
          { op: "set", path: "account.password", value: "chosen by the guide" },
          { op: "set", path: "ai.apiKey", value: "sk-evil" },
          { op: "set", path: "__proto__.isHit", value: true },
          { op: "set", path: "account.username", value: "ada" },
          { op: "set", path: "device.deviceId", value: "<b onmouseover=isHit=true>" },
        ],
      };
      provider.on(/my password is/, { say: [{ type: "text", text: `Sure!\n\`\`\`json\n${JSON.stringify(evil)}\n\`\`\`` }] });
      await say(page, `my password is ${ADA.password}, and the key sk-ant-very-secret-000`);
      await page.getByText("<img src=x").waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("ada");
      await page.getByText("Filled in by the guide").waitFor();
      expect(await page.getByLabel("Password", { exact: true }).inputValue()).toBe(ADA.password);
      expect(await page.evaluate(() => Reflect.get(globalThis, "isHit") as unknown)).toBe(false);
      expect(await page.locator(".guide img, .guide script, .guide a").count()).toBe(0);

      const asked = JSON.stringify(provider.asked);
      expect(asked).not.toContain(ADA.password);
      expect(asked).not.toContain("sk-ant-very-secret");
      const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]));
      expect(kept).not.toContain(ADA.password);
      expect(kept).not.toContain("sk-ant-very-secret");

      provider.on(/hello\?/, { say: [{ type: "text", text: "I would rather not" }] });
      await say(page, "hello?");
      await page.getByText("could not be read").waitFor();
      // The guide has pressed nothing: the gateway is unchanged.
      const { code } = await enter(host, ADA).then(
        () => ({ code: 0 }),
        (error: { code: number }) => error,
      );
      expect(code).toBe(425);
      expect(problems).toEqual([]);
    });
  });
});

describe("the advanced lane", () => {
  test("shows everything before it is applied, and sees the machine connect", async () => {
    await withFresh(async (desktop) => {
      const { host, problems } = desktop;
      const page = await desktop.open();
      await chooseLane(page, "Advanced");
      await fillAccount(page);
      await at(page, "The administrator");
      await page.getByText("One of its own", { exact: true }).click();
      await page.getByLabel("Password of root").fill("granite teapot seven");
      await goOn(page);
      await at(page, "Your AI");
      await goOn(page);
      await at(page, "Your time zone");
      await goOn(page);
      await at(page, "Your first machine");
      await page.getByLabel("Connect a machine after set-up").check();
      await page.getByLabel("Days until it must be connected anew").fill("0");
      await goOn(page);
      await page.getByText("A number of days from 1").waitFor();
      await page.getByLabel("Days until it must be connected anew").fill("30");
      await goOn(page);
      await at(page, "Look it over");
      const review = await page.locator(".review").innerText();
      for (const part of ["ada", "24 characters", "password of its own", "which is not an AI", "laptop, connected for 30 days"])
        expect(review).toContain(part);
      expect(review).not.toContain(ADA.password);
      await setUp(page);

      const line = await page.getByRole("group", { name: "the line to paste" }).innerText();
      const found = /^ ?curl -fsSL (\S+)\/downloads\/cli\/install\.sh \| GSV_DEVICE_TOKEN=(\S+) sh -s -- --device laptop --user ada$/.exec(
        line,
      );
      expect(found?.[1]).toBe(host.url);
      await page.getByText("Waiting for laptop").waitFor();
      const [workspace, state] = [mkdtempSync(join(tmpdir(), "gsv-device-")), mkdtempSync(join(tmpdir(), "gsv-state-"))];
      const auth = { username: "ada", token: found![2]! };
      const device = await startDevice({ url: host.url, auth, deviceId: "laptop", workspace, state, waitMs: 400 });
      try {
        await page.getByText("laptop is connected").waitFor();
        await page.getByRole("button", { name: "run uname -a on laptop" }).waitFor();
      } finally {
        device.close();
        for (const folder of [workspace, state]) rmSync(folder, { recursive: true, force: true });
      }
      await page.getByRole("button", { name: "Just look around" }).click();
      await page.getByRole("heading", { level: 1, name: "Chat" }).waitFor();
      (await enter(host, { username: "root", password: "granite teapot seven" })).close();
      expect(problems).toEqual([]);
    });
  });
});

test("a reload loses only the secrets, and back and forward go through the steps", async () => {
  await withFresh(async (desktop) => {
    const page = await desktop.open();
    await chooseLane(page, "Customize");
    await fillAccount(page);
    await at(page, "Your AI");
    await page.getByText("An AI provider", { exact: true }).click();
    await page.getByLabel("Provider", { exact: true }).selectOption("openai");
    await page.getByLabel("Key", { exact: true }).fill(KEY);
    await page.goBack();
    await at(page, "Your account");
    expect(await page.getByLabel("Name").inputValue()).toBe("ada");
    await page.goForward();
    await at(page, "Your AI");
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe(KEY);

    await page.reload();
    await at(page, "Your AI");
    expect(await page.getByLabel("Provider", { exact: true }).inputValue()).toBe("openai");
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe("");
    const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), location.href]));
    for (const secret of [KEY, ADA.password]) expect(kept).not.toContain(secret);
    await page.getByRole("button", { name: "Review" }).click();
    await at(page, "Look it over");
    expect(await page.getByRole("button", { name: "Set up this gateway" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Your account", exact: true }).click();
    await at(page, "Your account");
    await page.getByText("Type a password.").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("ada");
  });
});

test("a gateway that others can reach requires its code, typed or in the address", async () => {
  await withFresh(
    async (desktop) => {
      const { host, problems } = desktop;
      const page = await desktop.open();
      await page.getByLabel("Setup code").fill("AAAA-BBBB-CCCC");
      await goOn(page);
      await page.getByText("That is not the code").waitFor();
      await page.getByLabel("Setup code").fill(host.setupCode!.toLowerCase());
      await goOn(page);
      await at(page, "Welcome to GSV");
      await page.getByText("Quick", { exact: true }).waitFor();

      const linked = await desktop.open(`/#setup=${host.setupCode!}`);
      await chooseLane(linked, "Quick");
      expect(linked.url()).not.toContain(host.setupCode!);
      await say(linked, "call me Ada, I live in Lisbon");
      await linked.getByRole("button", { name: "Time zone: Europe/Lisbon" }).waitFor();
      await linked.getByLabel("Password", { exact: true }).fill(ADA.password);
      await linked.getByRole("button", { name: "Show" }).click();
      await goOn(linked);
      await linked.getByText("Europe/Lisbon,").waitFor();
      await setUp(linked);
      expect(problems).toEqual([]);

      // The other page learns that somebody was faster.
      await chooseLane(page, "Quick");
      await fillAccount(page);
      await at(page, "Look it over");
      await page.getByRole("button", { name: "Set up this gateway" }).click();
      await page.getByRole("heading", { name: "Log in" }).waitFor();
    },
    { flags: { origin: ["https://gsv.example.com"] } },
  );
});

test("axe finds no violations in any step, in either theme", async () => {
  await withFresh(async (desktop) => {
    const page = await desktop.open("/", WIDE);
    await everyStep(page, async (name) => expect(await violationsInBothThemes(page), name).toEqual([]));
  });
});

test("a phone shows every step in one column, with the guide on request, and no step is wider than its window", async () => {
  await withFresh(async (desktop) => {
    const { problems } = desktop;
    const page = await desktop.open("/", PHONE);
    await everyStep(page, async (name) => {
      expect(await tooWide(page), name).toEqual([]);
      if (name !== "account") return;
      await page.getByRole("button", { name: "Ask the guide" }).tap();
      await say(page, "connect a machine called pocket");
      await page.getByRole("button", { name: "Machine's name: pocket" }).waitFor();
      expect(await tooWide(page), "guide").toEqual([]);
      await page.getByRole("button", { name: "Put the guide away" }).tap();
    });
    expect(problems).toEqual([]);
  });
});

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Say something to the guide").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

function focused(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.getAttribute("name"));
}
