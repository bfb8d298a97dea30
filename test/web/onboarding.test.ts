// Setting up a fresh gateway from a real browser: each lane to its end, what is kept and what is not, and the guide.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Connection } from "../../src/client/client.ts";
import { startDevice } from "../../src/device/device.ts";
import { leaveBrowser, takeBrowser } from "../support/browser.ts";
import { hasFocus, PHONE, violationsInBothThemes, WIDE } from "../support/desktop.ts";
import { ScriptedProvider } from "../support/models/provider.ts";
import { ADA, answers, at, chooseLane, everyStep, fillAccount, goOn, setUp, withFresh, withGuide } from "../support/onboarding.ts";
import { enter } from "../support/people.ts";
import { tooWide } from "../support/widths.ts";

const GRACE = { username: "grace", password: "nanoseconds of wire" };
const ROOT_PASSWORD = "granite teapot seven";
const KEY = "sk-canary-000000000000";
const KEY_OF_ANTHROPIC = "sk-ant-canary-00000000";

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
      await page.getByRole("dialog").getByRole("button", { name: "What can you do?" }).click();
      await page.getByText("the demo model, not an AI").first().waitFor();
      await annotate(`from opening the page to the first answer: ${Date.now() - startedAt} ms, filled in by a script`);
      const client = await enter(host, ADA);
      await expect.poll(() => answers(client)).toContainEqual(expect.stringContaining("the demo model, not an AI"));
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
      await page.getByText("Enter a name.").waitFor();
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
      await at(page, "AI model");
      await page.getByText("Your own model server", { exact: true }).click();
      await goOn(page);
      await page.getByText("Choose a server, or enter its address.").waitFor();
      await page.getByLabel("Server address").fill(`http://${provider.host}/v1`);
      // The first two attempts are answered as if the key were missing, then wrong.
      provider.on("Answer with the single word: ready", { tries: [{ status: 401 }, { status: 401 }] });
      await page.getByRole("button", { name: "Test connection" }).click();
      await page.getByText("asks for a key").waitFor();
      await expect.poll(() => focused(page)).toBe("apiKey");
      await page.getByLabel("API key", { exact: true }).fill(KEY);
      await page.getByRole("button", { name: "Test connection" }).click();
      await page.getByText("refused this key").waitFor();
      await page.getByRole("button", { name: "Continue" }).click();
      await at(page, "Your time zone");
      await goOn(page);
      await at(page, "Review");
      await page.getByText("test failed").waitFor();
      await page.getByRole("button", { name: "Change: Model" }).click();
      await page.getByRole("button", { name: "Test connection" }).click();
      await page.getByText(/^large answered in .*"ready and willing"/).waitFor();
      await page.getByLabel("Model", { exact: true }).fill("small");
      expect(await page.getByText(/answered in/).count()).toBe(0);
      await page.getByRole("button", { name: "Test connection" }).click();
      await page.getByText(/^small answered in/).waitFor();
      await goOn(page);

      await at(page, "Your time zone");
      await page.getByRole("combobox", { name: "Find another city or country" }).fill("san fran");
      await page.getByRole("option", { name: /San Francisco/ }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByText("America/Los_Angeles · now").waitFor();
      await goOn(page);
      await at(page, "Review");
      await page.getByText(`OpenAI-compatible server at http://${provider.host}/v1, small`).waitFor();
      await page.getByText(/^answered in/).waitFor();
      await setUp(page);

      await page.getByRole("dialog").getByRole("button", { name: "What can you do for me here?" }).click();
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
      provider.on(/sing/, { say: [{ type: "text", text: `Sure!\n\`\`\`json\n${JSON.stringify(evil)}\n\`\`\`` }] });
      await say(page, `my password is ${ADA.password} and my token is ghp_verysecret000`);
      await page.getByText("I removed the secret").waitFor();
      await say(page, "sing me a song");
      await page.getByText("<img src=x").waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("ada");
      await page.getByText("Filled in by the guide").waitFor();
      expect(await page.getByLabel("Password", { exact: true }).inputValue()).toBe(ADA.password);
      expect(await page.evaluate(() => Reflect.get(globalThis, "isHit") as unknown)).toBe(false);
      expect(await page.locator(".guide img, .guide script, .guide a").count()).toBe(0);

      const asked = JSON.stringify(provider.asked);
      expect(asked).not.toContain(ADA.password);
      expect(asked).not.toContain("verysecret");
      const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]));
      expect(kept).not.toContain(ADA.password);
      expect(kept).not.toContain("verysecret");

      provider.on(/a joke/, { say: [{ type: "text", text: "I would rather not" }] });
      await say(page, "tell me a joke");
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
      await at(page, "Administrator");
      await page.getByText("A separate one", { exact: true }).click();
      await page.getByLabel("Administrator password").fill("granite teapot seven");
      await goOn(page);
      await at(page, "AI model");
      await goOn(page);
      await at(page, "Your time zone");
      await goOn(page);
      await at(page, "Your first machine");
      await page.getByLabel("Connect a machine after set-up").check();
      await page.getByLabel("Days until it must reconnect").fill("0");
      await goOn(page);
      await page.getByText("Enter a number from 1").waitFor();
      await page.getByLabel("Days until it must reconnect").fill("30");
      await goOn(page);
      await at(page, "Review");
      const review = await page.locator(".review").innerText();
      for (const part of ["ada", "24 characters", "a separate password", "not an AI", "laptop, reconnect after 30 days"])
        expect(review).toContain(part);
      expect(review).not.toContain(ADA.password);
      await setUp(page);

      const line = await page.getByRole("group", { name: "Install command" }).innerText();
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
        await page.getByRole("dialog").getByRole("button", { name: "run uname -a on laptop" }).waitFor();
      } finally {
        device.close();
        for (const folder of [workspace, state]) rmSync(folder, { recursive: true, force: true });
      }
      await page.getByRole("button", { name: "Skip" }).click();
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
    await at(page, "AI model");
    await page.getByText("AI provider", { exact: true }).click();
    await page.getByLabel("Provider", { exact: true }).selectOption("openai");
    await page.getByLabel("API key", { exact: true }).fill(KEY);
    await page.goBack();
    await at(page, "Your account");
    expect(await page.getByLabel("Name").inputValue()).toBe("ada");
    await page.goForward();
    await at(page, "AI model");
    expect(await page.getByLabel("API key", { exact: true }).inputValue()).toBe(KEY);

    await page.reload();
    await at(page, "AI model");
    expect(await page.getByLabel("Provider", { exact: true }).inputValue()).toBe("openai");
    expect(await page.getByLabel("API key", { exact: true }).inputValue()).toBe("");
    const kept = await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), location.href]));
    for (const secret of [KEY, ADA.password]) expect(kept).not.toContain(secret);
    await page.getByRole("button", { name: "Review" }).click();
    await at(page, "Review");
    expect(await page.getByRole("button", { name: "Set up this gateway" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Your account", exact: true }).click();
    await at(page, "Your account");
    await page.getByText("Enter a password.").waitFor();
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
      await page.getByText("Wrong code").waitFor();
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
      await linked.getByText("Europe/Lisbon · now").waitFor();
      await setUp(linked);
      expect(problems).toEqual([]);

      // The other page learns that somebody was faster.
      await chooseLane(page, "Quick");
      await fillAccount(page);
      await at(page, "Review");
      await page.getByRole("button", { name: "Set up this gateway" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
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

test("the guide understands sentences, takes a key masked, adds the steps that are needed, and asks for the review at the end", async () => {
  await withFresh(async (desktop) => {
    const { problems } = desktop;
    const page = await desktop.open();
    await at(page, "Welcome to GSV");
    await page.getByRole("button", { name: "Is it safe?" }).click();
    await page.getByText("Agents ask before they run a command").waitFor();
    // The other questions stay, and the answer leads nowhere.
    await page.getByRole("button", { name: "What does it cost?" }).waitFor();
    expect(await page.getByRole("button", { name: /^(Go to: |Is it safe)/ }).count()).toBe(0);
    await say(page, "I'm Ada Lovelace and I live in Porto");
    await page.getByRole("button", { name: "Name: ada" }).waitFor();
    await page.getByRole("button", { name: "Time zone: Europe/Lisbon" }).waitFor();
    await page.getByRole("button", { name: "Go to: Your account" }).click();
    await expect.poll(() => focused(page)).toBe("password");
    await page.getByLabel("Password", { exact: true }).fill(ADA.password);
    await page.getByLabel("Repeat password").fill(ADA.password);
    expect(await page.getByRole("navigation", { name: "Steps" }).innerText()).toBe("Account\nReview");

    await say(page, `my key is ${KEY_OF_ANTHROPIC}`);
    await page.getByRole("button", { name: "API key: entered, hidden" }).waitFor();
    // The quick lane now has the step of the model, and the review says what is missing there.
    expect(await page.getByRole("navigation", { name: "Steps" }).innerText()).toBe("Account\nModel\nReview");
    await page.getByRole("button", { name: "Go to: AI model" }).click();
    const key = page.getByLabel("API key", { exact: true });
    expect([await key.inputValue(), await key.getAttribute("type")]).toEqual([KEY_OF_ANTHROPIC, "password"]);
    expect(await page.getByLabel("Provider", { exact: true }).inputValue()).toBe("anthropic");
    expect(await page.locator(".guide").innerText()).not.toContain(KEY_OF_ANTHROPIC);
    const kept = () => page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]));
    expect(await kept()).not.toContain(KEY_OF_ANTHROPIC);

    await say(page, "no, just let me try the demo");
    await page.getByRole("button", { name: "Model: the gateway's own" }).waitFor();
    expect(await page.getByRole("navigation", { name: "Steps" }).innerText()).toBe("Account\nReview");
    await page.getByRole("button", { name: "Go to: Review" }).click();
    await page.getByText("Europe/Lisbon · now").waitFor();
    await setUp(page);
    expect(problems).toEqual([]);
  });
});

test("a phone shows every step in one column; the guide takes the form's place, and hands over to it when it does not understand", async () => {
  await withFresh(async (desktop) => {
    const { problems } = desktop;
    const page = await desktop.open("/", PHONE);
    await everyStep(page, async (name) => {
      expect(await tooWide(page), name).toEqual([]);
      if (name !== "account") return;
      await page.getByRole("button", { name: "Ask the guide" }).tap();
      await say(page, "connect a machine called pocket");
      await page.getByRole("button", { name: "Machine name: pocket" }).waitFor();
      expect(await page.getByLabel("Password", { exact: true }).isVisible()).toBe(false);
      expect(await tooWide(page), "guide").toEqual([]);
      await say(page, "sing me a song");
      await page.getByText("I did not understand that. Try").waitFor();
      await say(page, "then dance");
      await page.getByText("I did not understand that either. The form is quicker").waitFor();
      await page.getByRole("button", { name: "Go to: Name" }).tap();
      await expect.poll(() => focused(page)).toBe("username");
      // Back to the conversation, which is where it was.
      await page.getByRole("button", { name: "Ask the guide" }).tap();
      await page.getByText("then dance").waitFor();
      await page.getByRole("button", { name: "Close the guide" }).tap();
    });
    expect(problems).toEqual([]);
  });
});

test("a user whom root added chooses a time zone at the first sign-in, sees nothing of others, and is not asked again", async () => {
  await withFresh(async (desktop) => {
    const { host, problems } = desktop;
    const connection = await Connection.open(host.url);
    await connection.call("sys.setup", { ...ADA, rootPassword: ROOT_PASSWORD });
    connection.close();
    const root = await enter(host, { username: "root", password: ROOT_PASSWORD });
    await root.call("sys.user.create", GRACE);
    const page = await desktop.open("/", PHONE);
    const signIn = async ({ username, password }: typeof ADA) => {
      await page.getByLabel("User name").fill(username);
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
    };
    await signIn(GRACE);
    const welcome = page.getByRole("dialog", { name: "Welcome, grace" });
    await welcome.getByText("Only if you allow it:").waitFor();
    expect(await welcome.innerText()).not.toContain(ADA.username);
    expect(await welcome.innerText()).not.toContain("root");
    expect(await tooWide(page)).toEqual([]);
    expect(await violationsInBothThemes(page)).toEqual([]);
    await welcome.getByRole("combobox", { name: "Find another city or country" }).fill("japan");
    await welcome.getByRole("option", { name: /Japan/ }).waitFor();
    await page.keyboard.press("Enter");
    await welcome.getByText("Asia/Tokyo · now").waitFor();
    await welcome.getByRole("button", { name: "Continue" }).click();

    const steps = page.getByRole("dialog", { name: "Hello, grace" });
    await steps.getByRole("button", { name: "Choose a model" }).waitFor();
    await steps.getByRole("button", { name: "Connect a machine" }).waitFor();
    expect(await steps.getByRole("list").first().getByRole("button").count()).toBe(3);
    await steps.getByRole("button", { name: "Skip" }).click();
    const { entries } = await root.call("sys.config.get", { key: "users/1001/ai/timezone" });
    expect(entries[0]?.value).toBe("Asia/Tokyo");
    root.close();
    const grace = await enter(host, GRACE);
    expect((await grace.call("proc.approval.list", {})).pending).toEqual([]);
    grace.close();

    // Found again by its name, and not shown by itself in another browser.
    const other = await desktop.open("/");
    await other.getByLabel("User name").fill(GRACE.username);
    await other.getByLabel("Password", { exact: true }).fill(GRACE.password);
    await other.getByRole("button", { name: "Sign in", exact: true }).click();
    await other.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await other.waitForLoadState("networkidle");
    expect(await other.getByRole("dialog").count()).toBe(0);
    await other.keyboard.press("Control+k");
    await other.getByRole("combobox").fill("first steps");
    await other.getByRole("option", { name: /First steps/ }).click();
    await other.getByRole("dialog", { name: "Hello, grace" }).waitFor();
    expect(problems).toEqual([]);
  });
});

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message to the guide").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

function focused(page: Page): Promise<string | null | undefined> {
  return page.evaluate(() => document.activeElement?.getAttribute("name"));
}
