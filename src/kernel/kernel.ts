// Wires up the kernel: a store of rows, the gate that every call passes, and a list of parts whose hooks run on start, on wake, when
// a socket drains or closes, and when a batch is lost. A host builds the ports, forwards events to the methods below, and decides
// nothing.

import type { KernelPort } from "../process/kernel-port.ts";
import type { WorkersAi } from "../models/workers-ai.ts";
import { ContextWindows } from "../models/window.ts";
import type { Ports } from "../ports/ports.ts";
import { ROOT_UID } from "../protocol/caller.ts";
import { LIMITS } from "../protocol/limits.ts";
import { listRootsModelServers } from "./agents/ai-settings.ts";
import { Agents } from "./agents/agents.ts";
import { Judge } from "./agents/judge.ts";
import { Preparer } from "./agents/prepare.ts";
import { UserSettings } from "./agents/user-settings.ts";
import { Bodies } from "./files/bodies.ts";
import { callsByName, kernelCalls } from "./calls/table.ts";
import type { GatewayFacts, SetupAccess } from "./context.ts";
import { makeConfigDefaults } from "./defaults.ts";
import { ALLOWED_HOSTS_KEY, type IsAllowed, makeAllowList } from "./egress/allow.ts";
import { Gate } from "./gate.ts";
import { GitServer } from "./http/git.ts";
import { Lanes } from "./fairness/lanes.ts";
import { GatewayTarget } from "./files/gateway-target.ts";
import { earliestOf, type Part } from "./part.ts";
import { Mcp } from "./mcp/mcp.ts";
import { type CallbackOutcome, OAuth } from "./oauth/oauth.ts";
import { Passwords } from "./identity/passwords.ts";
import { Presence } from "./presence.ts";
import { Push } from "./push/push.ts";
import { type PushAnswerOutcome, PushAnswers } from "./push/push-answers.ts";
import { Reception } from "./reception.ts";
import { Repos } from "./repos/repos.ts";
import { DeviceAbsence } from "./devices/device-absence.ts";
import { DeviceRouter } from "./devices/device-router.ts";
import { ModelTrials } from "./setup/model-trials.ts";
import { Scheduler } from "./schedules/scheduler.ts";
import { Store } from "./store.ts";
import { Sweeper } from "./sweeper.ts";
import { Transfers } from "./files/transfers.ts";
import { Shares, type SharesOptions } from "./fairness/shares.ts";

export type KernelOptions = {
  version: string;
  host: GatewayFacts["host"];
  setupAccess: SetupAccess;
  /** The model agents use until one is configured. */
  model: { provider: string; model: string };
  /** The platform's own models, on Cloudflare. */
  workersAi?: WorkersAi | undefined;
  /** The gateway's own addresses, if the host knows them, such as https://gsv.example. */
  origins?: (() => readonly string[]) | undefined;
  /** How work that exceeds its share yields and pauses; by default with the platform's timers. */
  waits?: Pick<SharesOptions, "yield" | "pause">;
};

/** Delay before the next wake after storage failed during one. */
const RETRY_MS = 5_000;

export class Kernel {
  readonly #store: Store;
  readonly #presence: Presence;
  readonly #reception: Reception;
  readonly #bodies: Bodies;
  readonly #agents: Agents;
  readonly #oauth: OAuth;
  readonly #pushAnswers: PushAnswers;
  readonly #mcp: Mcp;
  readonly #git: GitServer;
  readonly #sweeper: Sweeper;
  readonly #parts: readonly Part[];
  /** Which hosts may be reached although their addresses are private; made again when a setting changes. */
  #allowList: { generation: number; isAllowed: IsAllowed } | null = null;

  constructor(ports: Ports, options: KernelOptions) {
    const { clock, net, crypto, log, vitals } = ports;
    const about: GatewayFacts = { version: options.version, host: options.host, startedAt: clock.now(), limits: LIMITS };
    const store = new Store(ports, about, makeConfigDefaults(options));
    const shares = new Shares({
      now: () => clock.elapsed(),
      onError: (error) => log.error("deferred work failed", { error: String(error) }),
      ...options.waits,
    });
    const lanes = new Lanes(store, shares);
    const judge = new Judge(store, callsByName);
    const gate = new Gate(store, judge, lanes);
    const repos = new Repos(store);
    const gatewayTarget = new GatewayTarget(store, gate, judge, repos.files);
    const deviceRouter = new DeviceRouter(store);
    const deviceAbsence = new DeviceAbsence(store);
    const bodies = new Bodies(ports);
    const transfers = new Transfers(store, bodies, gatewayTarget, deviceRouter);
    const windows = new ContextWindows(net, () => clock.now());
    const oauth = new OAuth(store, options.origins ?? (() => []));
    const mcp = new Mcp(store, oauth);
    const settings = new UserSettings(store.reads.config);
    const preparer = new Preparer(store, { gatewayTarget, repos, windows, settings, mcp });
    const sweeper = new Sweeper(store, gatewayTarget, repos);
    const agents = new Agents(store, {
      gate,
      judge,
      shares,
      gatewayTarget,
      repos,
      deviceRouter,
      deviceAbsence,
      preparer,
      settings,
      sweeper,
      mcp,
    });
    const push = new Push(store, options.origins ?? (() => []));
    const scheduler = new Scheduler(store, { gate, agents, shares });
    const services = {
      ai: preparer,
      agents,
      trials: new ModelTrials({ net, crypto, workersAi: options.workersAi, now: () => clock.now() }),
      vitals,
      net,
      passwords: new Passwords(crypto),
      throttle: store.nouns.throttle,
      setupAccess: options.setupAccess,
      repos,
      copies: transfers,
      mcp,
      oauth,
      scheduler,
      push,
    };
    gate.setTargets({ services, gatewayTarget, devices: deviceRouter, transfers });

    this.#store = store;
    this.#presence = new Presence(store, deviceAbsence);
    this.#reception = new Reception(store, gate, shares, deviceRouter, bodies);
    this.#bodies = bodies;
    this.#agents = agents;
    this.#oauth = oauth;
    this.#pushAnswers = new PushAnswers(store, gate);
    this.#mcp = mcp;
    this.#git = new GitServer(store, services);
    this.#sweeper = sweeper;
    this.#parts = [
      store,
      repos,
      this.#reception,
      bodies,
      this.#presence,
      deviceRouter,
      ...agents.parts,
      scheduler,
      push,
      deviceAbsence,
      lanes,
      mcp,
      sweeper,
    ];
    this.#begin();
  }

  /** The port through which the process with this pid reaches the kernel. */
  kernelPortFor(pid: string): KernelPort {
    return this.#agents.kernelPortFor(pid);
  }

  /** The uid whose share a process uses; -1 if there is no such process. */
  ownerOf(pid: string): number {
    return this.#agents.ownerUidOf(pid);
  }

  /** The directory that holds the archives of a process. */
  archiveRootOf(pid: string): string {
    return this.#agents.archiveRootOf(pid);
  }

  /** A configuration value, for hosts that need one; "" if it is not set. */
  readSetting(key: string): string {
    return this.#store.nouns.config.get(key) ?? "";
  }

  get isSetupMode(): boolean {
    return this.#store.nouns.accounts.isSetupMode();
  }

  /** Called before an upgrade: why this address may not open another socket now, or null. */
  findRefusal(address: string): string | null {
    return this.#reception.findRefusal(address);
  }

  onSocketOpened(socketId: string): void {
    this.#reception.onSocketOpened(socketId);
    this.#store.wakeBy(this.#reception.nextDueAt());
  }

  onFrame(socketId: string, text: string): void {
    this.#sweeper.scheduleSweep();
    this.#reception.onFrame(socketId, text);
  }

  /** A binary frame: a piece of a body. */
  onBodyFrame(socketId: string, bytes: Uint8Array): void {
    this.#bodies.onBodyFrame(socketId, bytes);
  }

  /** A socket that was full has drained: its peer has read. */
  onSocketDrained(socketId: string): void {
    for (const part of this.#parts) part.onSocketDrained?.(socketId);
  }

  onSocketClosed(socketId: string): void {
    for (const part of this.#parts) this.#store.attempt(() => part.onSocketClosed?.(socketId));
  }

  onWake(): void {
    const now = this.#store.reads.now;
    const done = this.#parts.map((part) => this.#store.attempt(() => part.onWake?.(now)));
    if (done.every((isDone) => isDone)) this.#scheduleWake();
    else this.#store.wakeBy(now + RETRY_MS);
  }

  /** A batch did not reach the disk: rebuilds memory from the rows, and closes sockets whose identity was lost with the batch. */
  onRollback(): void {
    // Must run before the stale rows are dropped: a call that was answered must not be answered again because its row came back.
    for (const part of this.#parts) this.#store.attempt(() => part.onRollback?.());
    for (const socketId of this.#dropStaleSockets()) {
      if (this.#store.reads.connections.caller(socketId) === undefined && !this.#reception.isStranger(socketId))
        this.#store.ports.sockets.close(socketId, 1011, "Storage failed");
    }
    this.#scheduleWake();
  }

  /** A request below /git/. */
  serveGit(request: Request, address: string): Promise<Response> {
    this.#sweeper.scheduleSweep();
    return this.#git.serve(request, address);
  }

  /** An OAuth provider has sent a person back: stores the account, and connects what waits for it. */
  async finishSignIn(params: URLSearchParams, origin: string): Promise<CallbackOutcome> {
    const outcome = await this.#oauth.finish(params, origin);
    this.#mcp.onSignInEnded(outcome);
    this.#scheduleWake();
    return outcome;
  }

  /** The service worker of a browser has sent an answer to a question. */
  answerPush(sent: unknown, address: string, signal: AbortSignal): Promise<PushAnswerOutcome> {
    return this.#pushAnswers.take(sent, address, signal);
  }

  /** Logs an error thrown while an HTTP request was served; returns the incident id. */
  logIncident(call: string, error: unknown, address: string): string {
    const { log, crypto } = this.#store.ports;
    return log.reportIncident(crypto.uuid(), { call, address }, error);
  }

  /** Whether this is a live user token of root, which the operator's pages require. */
  isOperator(token: string): boolean {
    const { tokens, accounts } = this.#store.nouns;
    const { now } = this.#store.reads;
    const found = tokens.findLive(token, now);
    const account = found && accounts.findByUid(found.uid);
    if (found?.kind !== "user" || account?.uid !== 0 || account.locked) return false;
    this.#store.attempt(() => this.#store.relaxed(() => tokens.recordUse([found.tokenId], now)));
    return true;
  }

  /** Whether root listed this host as reachable although its address is not public. The host's Net port asks this. */
  isOnAllowList(host: string, port: number): boolean {
    const generation = this.#store.nouns.config.generationOf(ROOT_UID);
    if (this.#allowList?.generation !== generation)
      this.#allowList = { generation, isAllowed: makeAllowList(...this.allowListArguments()) };
    return this.#allowList.isAllowed(host, port);
  }

  /** The arguments from which `isOnAllowList` builds its allow list, for processes that run in another object and connect from there. */
  allowListArguments(): [string, ...string[]] {
    return [this.readSetting(ALLOWED_HOSTS_KEY), ...listRootsModelServers(this.#store.nouns.config)];
  }

  /** Start-up is recovery: grants new defaults and makes the rows match the sockets that are open. */
  #begin(): void {
    this.#store.write(({ capabilities }) => capabilities.seed(kernelCalls));
    const open = this.#dropStaleSockets();
    const known = new Set(this.#store.nouns.connections.listIds());
    for (const socketId of open) if (!known.has(socketId)) this.#reception.onSocketOpened(socketId);
    for (const part of this.#parts) part.begin?.();
    this.#scheduleWake();
  }

  /** A crash or a lost batch may have lost the removal of a closed socket's row. Returns the sockets that are open. */
  #dropStaleSockets(): ReadonlySet<string> {
    const open = new Set(this.#store.ports.sockets.list());
    for (const socketId of this.#presence.recordedSocketIds()) if (!open.has(socketId)) this.onSocketClosed(socketId);
    return open;
  }

  /** Asks for one wake at the earliest due time of all parts. */
  #scheduleWake(): void {
    this.#store.wakeBy(earliestOf(this.#parts.map((part) => part.nextDueAt?.())));
  }
}
