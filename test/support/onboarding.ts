// The steps of a person who sets up a fresh gateway in a real browser.

import { DatabaseSync } from "node:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Client } from "../../src/client/client.ts";
import { type Desktop, desktopOf, startDesktop } from "./desktop.ts";
import { startNodeHost } from "./node-host.ts";
import type { ScriptedProvider } from "./models/provider.ts";

export const ADA = { username: "ada", password: "violet umbrella in march" };

/** Runs `work` with a gateway that waits to be set up. */
export async function withFresh(
  work: (desktop: Desktop) => Promise<void>,
  options: Parameters<typeof startDesktop>[0] = {},
): Promise<void> {
  const desktop = await startDesktop({ ...options, isSetUp: false });
  try {
    await work(desktop);
  } finally {
    await desktop.close();
  }
}

/**
 * The same with a real model as the guide: `provider` scripts its answers. There is no account that could configure it yet, so
 * its config rows are written directly.
 */
export async function withGuide(provider: ScriptedProvider, work: (desktop: Desktop) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "gsv-guide-"));
  try {
    await (await startNodeHost({ home })).close();
    const database = new DatabaseSync(join(home, "kernel.db"));
    const set = database.prepare("INSERT INTO config_kv VALUES (?, ?, 0)");
    const { provider: id, model, baseUrl } = provider.choice("chat");
    for (const [name, value] of Object.entries({ provider: id, model, base_url: baseUrl! })) set.run(`config/ai/${name}`, value);
    database.close();
    const desktop = await desktopOf(await startNodeHost({ home }));
    try {
      await work(desktop);
    } finally {
      await desktop.close();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

export async function chooseLane(page: Page, lane: "Quick" | "Customize" | "Advanced"): Promise<void> {
  await at(page, "Welcome to GSV");
  await page.getByText(lane, { exact: true }).click();
  await goOn(page);
}

export async function fillAccount(page: Page, { username, password } = ADA): Promise<void> {
  await at(page, "Your account");
  await page.getByLabel("Name").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByLabel("Repeat password").fill(password);
  await goOn(page);
}

export async function goOn(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Continue" }).click();
}

/** Waits for the step with this heading. */
export async function at(page: Page, title: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

export async function setUp(page: Page): Promise<void> {
  await at(page, "Review");
  await page.getByRole("button", { name: "Set up this gateway" }).click();
  await page.getByRole("dialog", { name: /^Hello/ }).waitFor();
}

/** Goes through the advanced lane, each step with as much on it as it can have, up to the greeting. Calls `look` at each. */
export async function everyStep(page: Page, look: (name: string) => Promise<void>): Promise<void> {
  await at(page, "Welcome to GSV");
  await page.getByText("Quick", { exact: true }).waitFor();
  await look("welcome");
  await chooseLane(page, "Advanced");
  await at(page, "Your account");
  await goOn(page);
  await page.getByText("Enter a name.").waitFor();
  await look("account");
  await fillAccount(page);
  await at(page, "Administrator");
  await page.getByText("A separate one", { exact: true }).click();
  await look("admin");
  await page.getByLabel("Administrator password").fill("granite teapot seven");
  await goOn(page);
  await at(page, "AI model");
  await page.getByText("AI provider", { exact: true }).click();
  await page.getByLabel("Provider", { exact: true }).selectOption("anthropic");
  await look("provider");
  await page.getByText("Your own model server", { exact: true }).click();
  await page.getByLabel("Server address").fill("http://127.0.0.1:9/v1");
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("Nothing answers at 127.0.0.1:9").waitFor();
  await look("local server");
  await page.getByText("Demo", { exact: true }).click();
  await goOn(page);
  await at(page, "Your time zone");
  await page.getByRole("combobox", { name: "Find another city or country" }).fill("ber");
  await page.getByRole("option").first().waitFor();
  await look("time");
  await page.keyboard.press("Escape");
  await goOn(page);
  await at(page, "Your first machine");
  const machine = page.getByLabel("Connect a machine after set-up");
  if (!(await machine.isChecked())) await machine.check();
  await look("machine");
  await goOn(page);
  await at(page, "Review");
  await look("review");
  await setUp(page);
  await page.getByText(/^Waiting for/).waitFor();
  await look("greeting");
}

/** The texts an agent has answered with so far. */
export async function answers(client: Client): Promise<string[]> {
  const history = await client.call("proc.history", {});
  const messages = "messages" in history ? history.messages : [];
  return messages.filter(({ role }) => role === "assistant").map(({ content }) => JSON.stringify(content));
}
