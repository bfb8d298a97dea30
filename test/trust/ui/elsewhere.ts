// A page of another origin, in the browser of a person who is logged in: it can neither connect to the gateway, nor read from it,
// nor show the desktop in a frame.

import type { Desktop } from "../../support/desktop.ts";
import { ALICE } from "../../support/people.ts";
import type { Bar } from "../bar.ts";
import type { Canary } from "./canary.ts";

export async function elsewhere(bar: Bar, desktop: Desktop, canary: Canary): Promise<void> {
  const page = await desktop.openAs(ALICE);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.goto(`${canary.url}/page`);
  const tried = await page.evaluate(async (url) => {
    const socket = (address: string) =>
      new Promise<string>((resolve) => {
        const webSocket = new WebSocket(address);
        webSocket.addEventListener("open", () => resolve("open"));
        webSocket.addEventListener("error", () => resolve("refused"));
      });
    const read = (address: string, options: RequestInit) =>
      fetch(address, options).then(
        ({ type }) => (type === "opaque" ? "refused" : "read"),
        () => "refused",
      );
    const framed = () =>
      new Promise<string>((resolve) => {
        const frame = document.createElement("iframe");
        frame.src = url;
        // A blocked frame loads an error page, whose content cannot be read either.
        frame.addEventListener("load", () => resolve(frame.contentDocument === null ? "refused" : "read"));
        frame.addEventListener("error", () => resolve("refused"));
        document.body.append(frame);
      });
    return {
      socket: await socket(`${url.replace("http", "ws")}/ws`),
      socketElsewhere: await socket(`${url.replace("http", "ws")}/`),
      read: await read(url, {}),
      readWithCookies: await read(url, { credentials: "include" }),
      readBlindly: await read(url, { mode: "no-cors" }),
      framed: await framed(),
      stored: localStorage.length === 0 ? "refused" : "read",
    };
  }, desktop.host.url);
  for (const [what, came] of Object.entries(tried)) bar.check("ways from elsewhere", came === "refused", () => `${what}: ${came}`);
  const shown = page.frames().filter((frame) => frame !== page.mainFrame());
  for (const frame of shown) {
    const text = await frame
      .locator("body")
      .innerText({ timeout: 5_000 })
      .catch(() => "");
    bar.check("ways from elsewhere", !/Approvals|Hello/.test(text), () => `the desktop is shown inside another page: ${text.slice(0, 80)}`);
  }
  await page.context().close();
}
