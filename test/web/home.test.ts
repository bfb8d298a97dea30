// The start page and Find, in a real browser: what Home shows follows what happens elsewhere, and Find finds a message, a machine, a
// setting and a file.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { type Desktop, openPalette, PHONE, startDesktop, violationsInBothThemes } from "../support/desktop.ts";
import { plugIn } from "../support/devices.ts";
import { ScriptedModel, says } from "../support/models/scripted.ts";
import { ALICE, BOB, enter, ROOT } from "../support/people.ts";
import { askFor } from "../support/questions.ts";
import { tooWide } from "../support/widths.ts";

let desktop: Desktop;
let alice: Client;
let model: ScriptedModel;

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  model = await ScriptedModel.start();
});

afterAll(async () => {
  alice?.close();
  await model?.close();
  await desktop?.close();
});

test("Home starts a conversation, and shows what waits, works and is connected without a reload", async () => {
  const page = await desktop.goAs(ALICE, "/");
  await page.getByText("Nothing is waiting for you.").waitFor();
  await page.getByText("Only the gateway so far.").waitFor();
  await page.getByText("No agent has worked today.").waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);

  const question = await askFor(alice, "run rm -rf ~/nothing");
  const waiting = page.getByRole("region", { name: "Waiting for you" });
  await waiting.getByRole("link", { name: /Asked by/ }).waitFor();
  await alice.call("proc.hil", { requestId: question.requestId, decision: "deny" });
  await page.getByText("Nothing is waiting for you.").waitFor();
  const device = await plugIn(desktop.host, alice, "workbench");
  await page
    .getByRole("region", { name: "Machines" })
    .getByRole("link", { name: /^workbench/ })
    .getByText("Online")
    .waitFor();
  expect(await tooWide(page)).toEqual([]);

  const root = await enter(desktop.host, ROOT);
  await model.serve(root, alice.session.identity.process.uid);
  root.close();
  model.on("Water the quince tree", says("The quince tree has had ten litres."));
  await page.getByLabel("New task").fill("Water the quince tree");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("log").getByText("The quince tree has had ten litres.").waitFor();
  await page.getByRole("link", { name: "Home" }).click();
  await page
    .getByRole("region", { name: "Today" })
    .getByRole("link", { name: /^Water the quince tree/ })
    .waitFor();
  device.close();
  await page
    .getByRole("region", { name: "Machines" })
    .getByText(/^Offline/)
    .waitFor();
});

test("Find finds a message, a machine, a setting, a conversation and a file", async () => {
  await alice.call("fs.write", { path: "~/plans.md", content: "Plant a medlar in spring.\n" });
  const page = await desktop.goAs(ALICE, "/");
  const find = page.getByRole("combobox", { name: "Find" });
  const choose = async (words: string, name: RegExp) => {
    await openPalette(page);
    await find.fill(words);
    await page.getByRole("option", { name }).first().click();
  };
  await choose("ten litres", /^Personal agent.*ten litres/);
  await page.getByRole("log").getByText("ten litres").waitFor();
  await choose("workb", /^workbench/);
  await page.waitForURL(/\/machines\/device\/workbench$/);
  await choose("fallback", /^Fallback model/);
  await page.waitForURL(/\/settings\/ai\b/);
  await choose("quince", /^Water the quince tree/);
  await page.getByRole("log").getByText("The quince tree").first().waitFor();
  await choose("medlar", /^plans\.md/);
  await page.getByRole("group", { name: "Content of the file" }).getByText("Plant a medlar in spring.").waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await find.fill("ten litres");
  await page.getByRole("option", { name: /ten litres/ }).waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await find.fill("nothing is called so");
  await page.getByText("No results").waitFor();
});

test("another user finds nothing of it, and a phone reaches every screen", async () => {
  const page = await desktop.openAs(BOB, "/", PHONE);
  await page.getByText("No agent has worked today.").waitFor();
  await page.getByRole("button", { name: "Find" }).tap();
  const find = page.getByRole("combobox", { name: "Find" });
  for (const words of ["ten litres", "workbench", "quince", "medlar"]) {
    await find.fill(words);
    await page.getByText("No results").waitFor();
  }
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "More" }).tap();
  await page.getByRole("button", { name: "Machines" }).tap();
  await page.getByRole("heading", { name: "Machines", level: 1 }).waitFor();
  await page.getByRole("button", { name: "More" }).tap();
  await page.getByRole("button", { name: "Sign out (bob)" }).waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  expect(await tooWide(page, 360)).toEqual([]);
  await page.context().close();
});

test("no page had unexpected errors", () => {
  expect(desktop.problems).toEqual([]);
});
