// A real browser for tests: started when the first test of a worker needs it, shared by all tests of the worker, closed by the last.

import { type Browser, chromium } from "playwright-core";
import { findChromium } from "./chromium.ts";

/** The browser must connect to nothing but the gateway of the test. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A name for gateways of tests that others could reach.
  "--host-resolver-rules=MAP gsv.test 127.0.0.1",
];
/** A guard against hangs, as in vitest.config.ts. */
const START_MS = 120_000;

let users = 0;
let running: Promise<Browser> | null = null;

/** Every call must be followed by one of `leaveBrowser`. */
export async function takeBrowser(): Promise<Browser> {
  users += 1;
  running ??= launch();
  return running;
}

export async function leaveBrowser(): Promise<void> {
  users -= 1;
  if (users > 0 || running === null) return;
  const last = running;
  running = null;
  await (await last).close();
}

/** Its profile is a temporary folder, which Playwright removes when the browser closes. */
async function launch(): Promise<Browser> {
  const { path, env } = await findChromium();
  return chromium.launch({
    executablePath: path,
    headless: true,
    args: FLAGS,
    env: { ...process.env, ...env },
    timeout: START_MS,
  });
}
