// The same set-up on the Cloudflare host, as far as it works without the platform's models.

import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startCloudflareHost } from "../support/cloudflare-host.ts";
import { desktopOf } from "../support/desktop.ts";
import { at, chooseLane, fillAccount, goOn, setUp } from "../support/onboarding.ts";

const BUILT = fileURLToPath(new URL("../../dist/downloads", import.meta.url));

test("a gateway on Cloudflare is set up with its code, and its guide understands plain sentences", async () => {
  const desktop = await desktopOf(await startCloudflareHost({ downloads: BUILT }));
  try {
    const page = await desktop.open();
    await page.getByLabel("Setup code").fill(desktop.host.setupCode!);
    await goOn(page);
    await chooseLane(page, "Quick");
    await page.getByLabel("Message to the guide").fill("call me ada");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("button", { name: "Name: ada" }).waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("ada");
    await fillAccount(page);
    await at(page, "Review");
    await page.getByText(/^Workers AI, @cf/).waitFor();
    await setUp(page);
    expect(new URL(page.url()).pathname).toBe("/chat");
    expect(desktop.problems).toEqual([]);
  } finally {
    await desktop.close();
  }
});
