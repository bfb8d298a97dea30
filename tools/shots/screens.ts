// Screenshots of the screens, in a gateway that was used for a while.

import type { Page } from "playwright-core";
import type { Desktop } from "../../test/support/desktop.ts";
import { ALICE, ROOT } from "../../test/support/people.ts";
import { type Look, LOOKS, type Shoot } from "./looks.ts";
import type { Scene } from "./scene.ts";

/** Name of the screenshot, address, and a text that is there once the screen is ready. */
const SCREENS: readonly (readonly [name: string, path: string, text: string])[] = [
  ["home", "/", "Used today"],
  ["approvals", "/approvals", "Run a command"],
  ["approvals-allowed", "/approvals/allowed", "Revoke"],
  ["approvals-history", "/approvals/history", "Denied"],
  ["schedules", "/schedules", "Morning report"],
  ["schedule-add", "/schedules/add", "When, and what?"],
  ["notifications", "/notifications", "Disk nearly full"],
  ["machines", "/machines", "laptop"],
  ["machine", "/machines/device/laptop", "Travels with me"],
  ["machine-add", "/machines/add", "Tailscale"],
  ["nowhere", "/nowhere", "nothing at this address"],
];
const SETTINGS = ["ai", "permissions", "limits", "notifications", "tokens", "account", "appearance"];
const SETTINGS_OF_ROOT = ["people", "gateway", "network"];

export async function shootScreens(desktop: Desktop, look: Look, shoot: Shoot, { pid, conversations }: Scene): Promise<void> {
  await shoot(await desktop.open("/", LOOKS[look]), `sign-in-${look}`);
  const page = await desktop.openAs(ALICE, "/", LOOKS[look]);
  const open = (path: string) => page.goto(`${desktop.host.url}${path}`);
  for (const [name, path, text] of SCREENS) {
    await open(path);
    await page.getByText(text).first().waitFor();
    if (name === "approvals") await untilAnswerable(page);
    await shoot(page, `${name}-${look}`, true);
  }
  for (const section of SETTINGS) {
    await open(`/settings/${section}`);
    await shoot(page, `settings-${section}-${look}`, true);
  }
  for (const [name, id] of Object.entries(conversations)) {
    await open(`/chat/${encodeURIComponent(pid)}/${id}`);
    await page.getByRole("log").waitFor();
    if (name === "cleanup") await untilAnswerable(page);
    await shoot(page, `chat-${name}-${look}`);
  }
  await open(`/chat/${encodeURIComponent(pid)}/default`);
  await page.getByText("What would you like to do?").waitFor();
  await shoot(page, `chat-empty-${look}`);
  if (look !== "phone") {
    await open(`/chat/${encodeURIComponent(pid)}/${conversations.disk}?beside=/machines`);
    await page.getByText("Travels with me").waitFor();
    await shoot(page, `panes-${look}`);
  }
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).fill("lap");
  await page.getByRole("option", { name: /^laptop/ }).waitFor();
  await shoot(page, `find-${look}`);
  await page.keyboard.press("Escape");
  await open("/");
  await page.getByText("Used today").waitFor();
  if (look === "phone") await page.getByRole("button", { name: "More" }).click();
  else await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await shoot(page, `${look === "phone" ? "more" : "keys"}-${look}`);
  await page.context().close();
  const admin = await desktop.openAs(ROOT, "/", LOOKS[look]);
  for (const section of SETTINGS_OF_ROOT) {
    await admin.goto(`${desktop.host.url}/settings/${section}`);
    await shoot(admin, `settings-${section}-${look}`, true);
  }
  await admin.context().close();
}

/** A question can be answered only after it was in view for a moment. */
async function untilAnswerable(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Allow", exact: true }).and(page.locator(":enabled")).waitFor();
}
