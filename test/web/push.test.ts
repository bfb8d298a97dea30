// Push messages in a real browser: turned on in the settings, sent to a push service on loopback, decrypted there, and delivered to the
// service worker through DevTools, which shows them, opens the right place and answers questions. Only the browser's own connection to its
// push service, which is elsewhere, is replaced: the test makes the subscription.

import type { CDPSession, Page, Worker } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { type Desktop, PHONE, startDesktop, violationsInBothThemes } from "../support/desktop.ts";
import { ScriptedModel, says, wants } from "../support/models/scripted.ts";
import { ALICE, enter, ROOT } from "../support/people.ts";
import type { WorkerScope } from "../../web/src/push-worker/worker-scope.ts";
import { decryptPush, type PushService, startPushService, type TestBrowser } from "../support/push-service.ts";
import { tooWide } from "../support/widths.ts";

let desktop: Desktop;
let alice: Client;
let model: ScriptedModel;
let service: PushService;

beforeAll(async () => {
  desktop = await startDesktop();
  alice = await enter(desktop.host, ALICE);
  model = await ScriptedModel.start();
  service = await startPushService();
  const root = await enter(desktop.host, ROOT);
  await model.serve(root, alice.session.identity.process.uid);
  await root.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1" });
  root.close();
});

afterAll(async () => {
  alice?.close();
  await model?.close();
  await service?.close();
  await desktop?.close();
});

afterEach(async () => {
  for (const { subscriptionId } of (await alice.call("notification.push.list", {})).subscriptions)
    await alice.call("notification.push.unsubscribe", { subscriptionId });
});

/** A page whose browser is reached at our push service. */
async function openWithPush(path: string, look = {}): Promise<{ page: Page; browser: TestBrowser }> {
  const page = await desktop.openWithOwnToken(ALICE, "/", look);
  await page.context().grantPermissions(["notifications"], { origin: desktop.host.url });
  const browser = service.makeBrowser();
  await page.addInitScript(replacePushManager, { endpoint: browser.endpoint, keys: browser.keys });
  await page.goto(`${desktop.host.url}${path}`);
  return { page, browser };
}

/** Runs in the page. The headless browser says that notifications are denied although they were allowed. */
function replacePushManager({ endpoint, keys }: { endpoint: string; keys: { p256dh: string; auth: string } }): void {
  const bytesOf = (text: string) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0)).buffer;
  Object.defineProperty(Notification, "permission", { get: () => "granted" });
  const NAME = "test.push-key";
  const make = (key: string) => ({
    endpoint,
    options: { applicationServerKey: bytesOf(key) },
    toJSON: () => ({ endpoint, keys }),
    unsubscribe: async () => (localStorage.removeItem(NAME), true),
  });
  Object.assign(PushManager.prototype, {
    async subscribe({ applicationServerKey }: { applicationServerKey: string }) {
      localStorage.setItem(NAME, applicationServerKey);
      return make(applicationServerKey);
    },
    async getSubscription() {
      const key = localStorage.getItem(NAME);
      return key === null ? null : make(key);
    },
  });
}

/** Runs in the page: what it remembers of push is of an earlier sign-in. */
function endSignIn(): void {
  const memory = JSON.parse(localStorage.getItem("gsv.push")!) as object;
  localStorage.setItem("gsv.push", JSON.stringify({ ...memory, tokenId: "earlier" }));
}

/**
 * The page's service worker. A headless browser shows no notifications, so this one keeps them in a list; and all its pages are in front,
 * so `putInFront` says whether one is.
 */
async function workerOf(page: Page): Promise<Worker> {
  const context = page.context();
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
  await worker.evaluate(() => {
    const scope = globalThis as unknown as WorkerGlobals;
    scope.tray = new Map();
    scope.isInFront = false;
    scope.askCount = 0;
    const { clients } = scope;
    const matchAll = clients.matchAll.bind(clients);
    clients.matchAll = async (options) =>
      (await matchAll(options)).map((page) => ({
        focused: scope.isInFront,
        focus: () => page.focus(),
        postMessage(message, transfer) {
          scope.askCount++;
          page.postMessage(message, transfer);
        },
      }));
    Object.assign(scope.registration, {
      async showNotification(title: string, { tag = title, body, data, actions = [] }: TrayOptions) {
        scope.tray.set(tag, { title, body, tag, data, actions: actions.map((one) => one.title), close: () => scope.tray.delete(tag) });
      },
    });
  });
  return worker;
}

type Shown = { title: string; body: string; tag: string; actions: string[] };
type WorkerGlobals = Omit<WorkerScope, "registration"> & {
  tray: Map<string, TrayEntry>;
  isInFront: boolean;
  askCount: number;
  registration: object;
};
type TrayEntry = Shown & { data: unknown; close(): void };
type TrayOptions = { tag?: string; body: string; data: unknown; actions?: { title: string }[] };

function putInFront(worker: Worker, isInFront: boolean): Promise<void> {
  return worker.evaluate((value) => void Object.assign(globalThis, { isInFront: value }), isInFront);
}

/** Delivers a decrypted message to the service worker, as the browser does. */
async function deliver(devTools: CDPSession, registrationId: string, data: string): Promise<void> {
  await devTools.send("ServiceWorker.deliverPushMessage", { origin: desktop.host.url, registrationId, data });
}

async function openDevTools(page: Page): Promise<{ devTools: CDPSession; registrationId: string }> {
  const devTools = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    devTools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [first] = registrations;
      if (first !== undefined) resolve(first.registrationId);
    });
  });
  await devTools.send("ServiceWorker.enable");
  return { devTools, registrationId: await registered };
}

function listShown(worker: Worker): Promise<Shown[]> {
  return worker.evaluate(() => {
    const { tray } = globalThis as unknown as { tray: Map<string, TrayEntry> };
    return [...tray.values()].map(({ title, body, tag, actions }) => ({ title, body, tag, actions }));
  });
}

/** Presses a shown notification; `action` is a button of it, "" its text. */
function press(worker: Worker, tag: string, action: string): Promise<void> {
  return worker.evaluate(
    ([wanted, button]) => {
      const { tray } = globalThis as unknown as { tray: Map<string, TrayEntry> };
      const event = new Event("notificationclick");
      dispatchEvent(Object.assign(event, { notification: tray.get(wanted!), action: button, waitUntil: () => {} }));
    },
    [tag, action],
  );
}

test("push is turned on, a message equals what was sent, shows, and opens its place", async () => {
  const { page, browser } = await openWithPush("/settings/notifications");
  await page.getByRole("heading", { name: "Push messages to this browser" }).waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByText("On.", { exact: true }).waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("Sent. It should appear within a few seconds.").waitFor();
  expect(service.read(browser)).toMatchObject([{ title: "Push messages work" }]);

  const worker = await workerOf(page);
  const { devTools, registrationId } = await openDevTools(page);
  const { notification } = await alice.call("notification.create", {
    title: "The backup is done",
    body: "1,204 files",
    actions: [{ kind: "open", label: "Look", target: "/machines" }],
  });
  await expect.poll(() => service.read(browser).length).toBe(2);
  const text = decryptPush(browser.privateKeys, service.received.at(-1)!.body).toString();
  expect(JSON.parse(text)).toMatchObject({ title: "The backup is done", body: "1,204 files", path: "/machines" });
  // While a page is in front it tells of everything itself.
  await putInFront(worker, true);
  const test = JSON.stringify({ ...JSON.parse(text), notificationId: null, title: "A test is shown" });
  await deliver(devTools, registrationId, test);
  await expect.poll(async () => (await listShown(worker)).map(({ title }) => title)).toEqual(["A test is shown"]);
  await press(worker, "A test is shown", "");
  await page.waitForURL("**/machines");
  await page.goBack();
  await worker.evaluate(() => Object.assign(globalThis, { askCount: 0 }));
  await deliver(devTools, registrationId, JSON.stringify({ ...JSON.parse(text), notificationId: "not shown" }));
  await expect.poll(() => worker.evaluate(() => (globalThis as unknown as WorkerGlobals).askCount)).toBe(1);
  await putInFront(worker, false);
  await deliver(devTools, registrationId, text);
  await expect
    .poll(() => listShown(worker))
    .toEqual([{ title: "The backup is done", body: "1,204 files", tag: notification.notificationId, actions: [] }]);
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  await press(worker, notification.notificationId, "");
  await page.waitForURL("**/machines");
  expect(await page.evaluate(() => (globalThis as { isSamePage?: boolean }).isSamePage)).toBe(true);
  expect(await listShown(worker)).toEqual([]);

  await page.goto(`${desktop.host.url}/settings/notifications`);
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("button", { name: "Turn on" }).waitFor();
  expect((await alice.call("notification.push.list", {})).subscriptions).toEqual([]);
  await page.context().close();
});

test("a question is pushed with Allow and Deny, and Deny denies also while no page is open", async () => {
  model.on("tidy the attic", wants(["Shell", { input: "rm -r attic" }]), says("I was not allowed to."));
  const { page, browser } = await openWithPush("/settings/notifications");
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByText("On.", { exact: true }).waitFor();
  const worker = await workerOf(page);
  const { devTools, registrationId } = await openDevTools(page);
  const { pid } = await alice.call("proc.spawn", { profile: "task", label: "Tidier", prompt: "tidy the attic" });
  await expect.poll(() => service.read(browser).length).toBe(1);
  // No page of the desktop is open now.
  await page.goto("about:blank");
  await deliver(devTools, registrationId, decryptPush(browser.privateKeys, service.received.at(-1)!.body).toString());
  await expect
    .poll(() => listShown(worker))
    .toEqual([
      {
        title: "Run a command on the gateway?",
        body: expect.stringMatching(/^rm -r attic\n.*\nAsked by Tidier$/),
        tag: expect.any(String),
        actions: ["Allow", "Deny"],
      },
    ]);
  const [{ tag }] = (await listShown(worker)) as [Shown];
  await press(worker, tag, "deny");
  await expect.poll(async () => JSON.stringify(await alice.call("proc.history", { pid }))).toContain("I was not allowed to.");
  expect(await listShown(worker)).toEqual([]);

  // An answer that is too late says so.
  await deliver(devTools, registrationId, decryptPush(browser.privateKeys, service.received.at(-1)!.body).toString());
  await expect.poll(async () => (await listShown(worker)).length).toBe(1);
  await press(worker, tag, "approve");
  await expect
    .poll(() => listShown(worker))
    .toMatchObject([{ title: "Not allowed: Run a command on the gateway?", body: "This question was already answered: it is denied." }]);
  // What a newer gateway may send is shown without its content.
  await deliver(devTools, registrationId, JSON.stringify({ version: 2, title: "?" }));
  await expect
    .poll(async () => (await listShown(worker)).map(({ body }) => body))
    .toContain("Something has happened. Open GSV to see what.");
  await page.context().close();
});

test("levels and other browsers are settings, which fit a phone", async () => {
  const other = await openWithPush("/settings/notifications");
  await other.page.getByRole("button", { name: "Turn on" }).click();
  await other.page.getByText("On.", { exact: true }).waitFor();
  const { page, browser } = await openWithPush("/notifications", PHONE);
  await page.getByRole("link", { name: "Notification settings" }).click();
  await page.getByRole("heading", { name: "Other browsers" }).waitFor();
  await page.getByRole("button", { name: "Turn on" }).click();
  await page.getByLabel("Push to this browser").selectOption("Errors only");
  await page.getByLabel("Allow from a notification").uncheck();
  await page.getByLabel("Messages of agents").selectOption("None");
  expect(await tooWide(page)).toEqual([]);
  expect(await violationsInBothThemes(page)).toEqual([]);
  await expect.poll(async () => (await alice.call("notification.settings.get", {})).levels.agents).toBe("never");
  await expect
    .poll(async () => (await alice.call("notification.push.list", {})).subscriptions.map(({ level, mayAllow }) => [level, mayAllow]))
    .toEqual([
      ["all", true],
      ["error", false],
    ]);
  for (const level of ["info", "error"] as const) await alice.call("notification.create", { title: level, level });
  await expect.poll(() => service.read(browser).map(({ title }) => title)).toEqual(["error"]);
  // A page that is loaded again keeps what was chosen.
  await page.reload();
  await page.getByText("On.", { exact: true }).waitFor();
  expect(await page.getByLabel("Allow from a notification").isChecked()).toBe(false);
  // So does a browser that has to subscribe again, of which the gateway knows nothing any more: its sign-in had ended, say.
  const { subscriptionId } = (await alice.call("notification.push.list", {})).subscriptions[1]!;
  await alice.call("notification.push.unsubscribe", { subscriptionId });
  await page.getByRole("button", { name: "Turn on" }).waitFor();
  await page.evaluate(endSignIn);
  await page.reload();
  await page.getByText("On.", { exact: true }).waitFor();
  expect(await page.getByLabel("Push to this browser").inputValue()).toBe("error");
  expect(await page.getByLabel("Allow from a notification").isChecked()).toBe(false);
  await page.getByRole("button", { name: /^Remove / }).click();
  await page.getByRole("heading", { name: "Other browsers" }).waitFor({ state: "detached" });
  // The other browser learns it at once, and does not turn it on by itself.
  await other.page.getByRole("button", { name: "Turn on" }).waitFor();
  await other.page.reload();
  await other.page.getByRole("button", { name: "Turn on" }).waitFor();
  await expect.poll(() => other.page.evaluate(() => localStorage.getItem("gsv.push"))).toBeNull();
  expect((await alice.call("notification.push.list", {})).subscriptions.length).toBe(1);
  // Who logs out gets nothing more, also of what is under way.
  await page.goto(`${desktop.host.url}/settings/account`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).waitFor();
  expect(await page.evaluate(() => [localStorage.getItem("gsv.push"), localStorage.getItem("test.push-key")])).toEqual([null, null]);
  expect((await alice.call("notification.push.list", {})).subscriptions).toEqual([]);
  await alice.call("notification.settings.set", { levels: { agents: "all" } });
  for (const one of [page, other.page]) await one.context().close();
});
