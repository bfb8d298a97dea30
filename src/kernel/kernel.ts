// The kernel, put together. A host makes the ports, forwards events to the methods below, and decides nothing.

import { isNamedByDefault } from "../approval/defaults.ts";
import { type Answer, type Door, pass } from "./gate.ts";
import { fail } from "../lib/sys-error.ts";
import { type Ports } from "../ports/ports.ts";
import { type Caller, ROOT_UID } from "../protocol/caller.ts";
import type { Req } from "../protocol/frames.ts";
import { StorageError } from "../ports/sql.ts";
import { Windows } from "../models/window.ts";
import type { WorkersAi } from "../models/workers-ai.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Syscall } from "./calls/define.ts";
import { kernelCalls } from "./calls/table.ts";
import { rootsModelServers } from "./agents/ai-settings.ts";
import type { KernelLink } from "../process/link.ts";
import { Agents } from "./agents/agents.ts";
import { budgetsOf } from "./agents/budgets.ts";
import { Judge } from "./agents/judge.ts";
import { Policies } from "./agents/policies.ts";
import { aiCalls, prepare } from "./agents/prepare.ts";
import { authorize } from "./authorize.ts";
import type { About, ReadContext, SetupDoor, WriteContext } from "./context.ts";
import { Bodies } from "./bodies.ts";
import { configDefaults } from "./defaults.ts";
import { ALLOWED_HOSTS_KEY, allowList } from "./egress/allow.ts";
import { Emit } from "./emit.ts";
import { GitDoor } from "./http/git.ts";
import { Accounts } from "./nouns/accounts.ts";
import { Capabilities } from "./nouns/capabilities.ts";
import { Config } from "./nouns/config.ts";
import { Connections } from "./nouns/connections.ts";
import { type Device, Devices } from "./nouns/devices.ts";
import { Files } from "./nouns/files.ts";
import { Groups } from "./nouns/groups.ts";
import { Approvals } from "./nouns/approvals.ts";
import { Cancellations } from "./nouns/cancellations.ts";
import { Followers } from "./nouns/followers.ts";
import { ModelFailures } from "./nouns/model-failures.ts";
import { IpcCalls } from "./nouns/ipc-calls.ts";
import { Processes } from "./nouns/processes.ts";
import { ProcessSessions } from "./nouns/process-sessions.ts";
import { Spending } from "./nouns/spending.ts";
import { Repositories } from "./nouns/repositories.ts";
import { Results } from "./nouns/results.ts";
import { Routes } from "./nouns/routes.ts";
import { ShellSessions } from "./nouns/shell-sessions.ts";
import { Throttle } from "./nouns/throttle.ts";
import { Timers } from "./nouns/timers.ts";
import { Tokens } from "./nouns/tokens.ts";
import { Usage } from "./nouns/usage.ts";
import { Workspaces } from "./nouns/workspaces.ts";
import { Passwords } from "./passwords.ts";
import { answerWithoutDevice } from "./poll-without-device.ts";
import { isLaned, Lanes } from "./lanes.ts";
import { Reception } from "./reception.ts";
import { NativeTarget } from "./native.ts";
import { Quotas } from "./quotas.ts";
import { Repos } from "./repos.ts";
import { type HardwareArgs, refuseKey, route } from "./route.ts";
import { Routing } from "./routing.ts";
import type { HardwareSyscall } from "../hardware/calls/define.ts";
import { mustStillMay, run } from "./run.ts";
import { Trials } from "./setup-trials.ts";
import { Sweeping } from "./sweeping.ts";
import { migrate } from "./schema/migrate.ts";
import { Transactor } from "./transactor.ts";
import { Transfers } from "./transfers.ts";
import { type TurnMeans, Turns } from "./turns.ts";

export type KernelOptions = {
  version: string;
  host: About["host"];
  setupDoor: SetupDoor;
  /** The model agents use until one is configured. */
  model: { provider: string; model: string };
  /** The platform's own models, on Cloudflare. */
  workersAi?: WorkersAi | undefined;
  /** How whoever has to wait for their turn waits, where that is not left to the platform's own timers. */
  waits?: Pick<TurnMeans, "breath" | "rest">;
};

/** After a disk did not take what was due. */
const RETRY_MS = 5_000;

export class Kernel {
  readonly #ports: Ports;
  readonly #transactor: Transactor;
  readonly #files: Files;
  readonly #accounts: Accounts;
  readonly #config: Config;
  readonly #tokens: Tokens;
  readonly #connections: Connections;
  readonly #devices: Devices;
  readonly #shellSessions: ShellSessions;
  readonly #results: Results;
  readonly #throttle: Throttle;
  readonly #timers: Timers;
  readonly #emit: Emit;
  readonly #repos: Repos;
  readonly #git: GitDoor;
  readonly #native: NativeTarget;
  readonly #routing: Routing;
  readonly #bodies: Bodies;
  readonly #transfers: Transfers;
  readonly #lanes: Lanes;
  readonly #reception: Reception;
  readonly #approvals: Approvals;
  readonly #followers: Followers;
  readonly #spending: Spending;
  readonly #cancellations: Cancellations;
  readonly #agents: Agents;
  readonly #sweeping: Sweeping;
  #wakeAt: number | null = null;

  constructor(ports: Ports, options: KernelOptions) {
    const { sql, clock, sockets, crypto } = ports;
    this.#ports = ports;
    migrate(sql);
    const usage = new Usage(sql);
    const files = new Files(sql, usage);
    this.#files = files;
    this.#transactor = new Transactor(sql, () => {
      this.#connections.undone();
      files.undone();
    });
    const groups = new Groups(sql);
    const capabilities = new Capabilities(sql);
    this.#config = new Config(sql, crypto, configDefaults(options));
    this.#accounts = new Accounts(sql, groups);
    this.#tokens = new Tokens(sql, crypto);
    this.#connections = new Connections(sql, sockets, this.#transactor, this.#accounts, capabilities);
    const people = {
      nameOf: (uid: number) => this.#accounts.byUid(uid)?.username ?? String(uid),
      uidOf: (username: string) => this.#accounts.byName(username)?.uid,
    };
    this.#devices = new Devices(
      sql,
      people,
      (connectionId) => sockets.heardAt(connectionId),
      () => clock.now(),
    );
    this.#shellSessions = new ShellSessions(sql);
    this.#results = new Results(sql, crypto);
    this.#throttle = new Throttle(sql, crypto);
    this.#timers = new Timers(sql);
    this.#emit = new Emit(sockets, this.#connections, (deviceKey) => this.#usersOf(deviceKey, groups));

    this.#approvals = new Approvals(sql);
    this.#followers = new Followers(sql);
    this.#spending = new Spending(sql);
    this.#cancellations = new Cancellations(sql);

    const about: About = { version: options.version, host: options.host, startedAt: clock.now(), limits: LIMITS };
    const nouns = {
      accounts: this.#accounts,
      groups,
      capabilities,
      tokens: this.#tokens,
      config: this.#config,
      connections: this.#connections,
      devices: this.#devices,
      routes: new Routes(sql),
      shellSessions: this.#shellSessions,
      files,
      usage,
      quotas: new Quotas({ config: this.#config, accounts: this.#accounts, usage, storageBytes: ports.vitals.storageBytes }),
      repositories: new Repositories(sql, this.#accounts, usage),
      workspaces: new Workspaces(sql, crypto),
      processes: new Processes(sql),
      processSessions: new ProcessSessions(sql),
      cancellations: this.#cancellations,
      approvals: this.#approvals,
      followers: this.#followers,
      ipcCalls: new IpcCalls(sql),
      spending: this.#spending,
      modelFailures: new ModelFailures(sql),
    };
    const context = Object.defineProperty(
      { about, ...nouns, emit: this.#emit, after: (action: () => void) => this.#transactor.after(action) },
      "now",
      { get: () => clock.now() },
    );
    const reads = context as typeof context & ReadContext;
    const writes = context as typeof context & WriteContext;
    const table: ReadonlyMap<string, Syscall> = new Map(kernelCalls.map((call) => [call.name, call]));
    const { actors, net, log } = ports;
    this.#repos = new Repos({
      actors,
      net,
      log,
      reads,
      relaxed: (body) => this.#relaxed(() => body(writes)),
      durable: () => sql.durable(),
    });
    this.#routing = new Routing({
      ports,
      reads,
      relaxed: (body) => this.#relaxed(() => body(writes)),
      write: (body) => this.#now(() => body(writes)),
      wakeBy: (dueAt) => this.#wakeBy(dueAt),
    });
    this.#sweeping = new Sweeping({
      timers: this.#timers,
      nouns: [
        this.#results,
        this.#throttle,
        this.#tokens,
        this.#shellSessions,
        this.#approvals,
        this.#followers,
        this.#spending,
        this.#cancellations,
      ],
      hasTokens: () => this.#connections.tokenIds().length > 0,
      swept: (at) => this.#swept(at),
      relaxed: (body) => this.#unlessFull(() => this.#relaxed(body)),
      now: () => clock.now(),
      wakeBy: (dueAt) => this.#wakeBy(dueAt),
    });
    const commit = async <T>(body: (nouns: WriteContext) => T): Promise<T> => {
      const { value, after } = this.#transactor.run(() => body(writes));
      await sql.durable();
      for (const action of after) action();
      return value;
    };
    const policies = new Policies(reads, (name) => table.has(name) || isNamedByDefault(name));
    const judge = new Judge({ crypto, reads, policies, table, commit });
    this.#native = new NativeTarget({
      ports,
      reads,
      git: this.#repos.files,
      commit,
      relaxed: (body) => this.#relaxed(() => body(writes)),
      judge: async (caller, name, args) => void (await judge.pass(table.get(name)!, caller, args)),
      mayConnect: (caller) => judge.mayConnect(caller),
      authorize: (caller, call) => door.authorize(caller, call),
      sys: async (caller, call, args, signal) => {
        const answer = await pass(door, caller, { type: "req", id: "", call, args }, () => signal);
        for (const action of answer.after) action();
        return answer.data;
      },
    });
    this.#bodies = new Bodies(ports);
    this.#transfers = new Transfers({ ports, reads, table, bodies: this.#bodies, native: this.#native, routing: this.#routing });
    const turns = new Turns({
      now: () => clock.elapsed(),
      failed: (error) => log.error("work that had to wait failed", { error: String(error) }),
      ...options.waits,
    });
    this.#lanes = new Lanes({
      now: () => clock.now(),
      wakeBy: (dueAt) => this.#wakeBy(dueAt),
      take: (uid, work) => turns.take(uid, work),
      charge: (uid, ms) => turns.charge(uid, ms),
      elapsed: () => clock.elapsed(),
      isFull: (connectionId) => sockets.isFull(connectionId),
      whenRead: (connectionId, then) => this.#reception.whenRead(connectionId, then),
      mustStillMay: (caller, call) => mustStillMay(reads, call, caller),
    });
    const windows = new Windows(net, () => clock.now());
    const preparing = {
      reads,
      log,
      files: (caller: Caller) => this.#native.filesOf(caller),
      contextWindow: windows.of.bind(windows),
    };
    this.#agents = new Agents({
      ports,
      reads,
      connections: this.#connections,
      followers: this.#followers,
      commit: (body) => {
        this.#sweeping.touched();
        return commit(body);
      },
      relaxed: (body) => {
        this.#sweeping.touched();
        return this.#relaxed(() => body(writes));
      },
      wakeBy: (dueAt) => this.#wakeBy(dueAt),
      files: (caller, mayExceedQuota) => this.#native.filesOf(caller, mayExceedQuota),
      git: this.#repos.files,
      door: () => door,
      prepare: (process, caller) =>
        prepare(preparing, { pid: process.pid, profile: process.profile, contextFiles: process.contextFiles, caller }),
      judge,
      turns,
      ownerLimits: (uid) => budgetsOf(reads.config, uid).user,
      cancelLater: (deviceKey, caller, key) => this.#routing.cancelLater(deviceKey, caller, key),
      cancelNow: (deviceKey) => this.#routing.deviceCame(deviceKey),
    });
    const effects = {
      ai: aiCalls(preparing),
      agents: this.#agents,
      trials: new Trials({ net, crypto, workersAi: options.workersAi, now: () => clock.now() }),
      vitals: ports.vitals,
      passwords: new Passwords(crypto),
      throttle: this.#throttle,
      setupDoor: options.setupDoor,
      repos: this.#repos,
      copies: this.#transfers,
    };
    this.#git = new GitDoor({ ports, reads, effects, relaxed: (body) => this.#relaxed(() => body(writes)) });
    const means = {
      sql,
      transactor: this.#transactor,
      results: this.#results,
      reads,
      writes,
      effects,
      hardware: async (call: HardwareSyscall, caller: Caller, args: HardwareArgs, frame: Req, signal: AbortSignal) => {
        const { target: _, ...rest } = args;
        if (call.carries === "body") return { data: await this.#transfers.run(call, caller, args, frame, signal), stays: true, after: [] };
        const target = route(reads, caller, args);
        if (target !== null) {
          const lost = answerWithoutDevice(reads, caller, frame, args, target);
          const data = lost ?? (await this.#routing.forward(call.name, caller, frame, target, rest, signal));
          return { data, stays: true, after: [] };
        }
        refuseKey(call, frame);
        return this.#lanes.run(call, caller, signal, async () => ({
          data: await this.#native.run(call, caller, rest, signal),
          stays: call.keeps === true,
          after: [],
        }));
      },
    };
    const door: Door = {
      table,
      authorize: (caller, name) => authorize(table, () => this.#accounts.isSetupMode(), caller, name),
      run: (call, caller, args, frame, signal) => {
        if (caller.origin === "stranger") return run(means, call, caller, args, frame, signal);
        const tell = this.#telling(call, caller, args);
        const runs = (as: Caller) =>
          call.runs === "kernel" && isLaned(call)
            ? this.#lanes.run(call, as, signal(), async () => run(means, call, as, args, frame, signal))
            : run(means, call, as, args, frame, signal);
        if (caller.agent === undefined) {
          const answer = runs(caller);
          return answer instanceof Promise ? answer.then(tell) : tell(answer);
        }
        const allowed = judge.pass(call, caller, args);
        const begin = (as: Caller) => {
          // Judging takes time, in which its run may have been stopped.
          if (signal().aborted) fail(503, "The caller went away before this began");
          as.agent?.began?.();
          return runs(as);
        };
        return allowed.then(begin).then(tell);
      },
    };
    this.#reception = new Reception(ports, this.#connections, door, turns, {
      identified: ({ credential }) => {
        if (credential.kind === "token") this.#wakeBy(credential.expiresAt);
      },
      dueAt: (at) => this.#wakeBy(at),
      answered: (socketId, frame) => this.#routing.answered(socketId, frame),
      bodyNoted: (socketId, payload) => this.#bodies.signalled(socketId, payload),
      signalled: (driver, frame) => this.#routing.signalled(driver, frame),
    });
    this.#begin(capabilities);
  }

  /** The kernel as the process of that number has it. */
  linkTo(pid: string): KernelLink {
    return this.#agents.linkTo(pid);
  }

  /** Whose share of the machine a process uses; nobody's where there is no such process. */
  ownerOf(pid: string): number {
    return this.#agents.ownerOf(pid);
  }

  /** Where archives of a process are kept. */
  archiveRootOf(pid: string): string {
    return this.#agents.archiveRootOf(pid);
  }

  /** A setting, for hosts that need one. */
  setting(key: string): string {
    return this.#config.get(key) ?? "";
  }

  get isSetupMode(): boolean {
    return this.#accounts.isSetupMode();
  }

  /** Before an upgrade: why this address may not open another socket now, or null. */
  refusal(address: string): string | null {
    return this.#reception.refusal(address);
  }

  opened(socketId: string): void {
    this.#reception.opened(socketId);
    this.#wakeBy(this.#reception.nextDueAt());
  }

  received(socketId: string, text: string): void {
    this.#sweeping.touched();
    this.#reception.received(socketId, text);
  }

  /** A binary frame: a piece of a body. */
  receivedBytes(socketId: string, bytes: Uint8Array): void {
    this.#bodies.receivedBytes(socketId, bytes);
  }

  /** A socket that was full is no more: its peer has read. */
  drained(socketId: string): void {
    this.#reception.drained(socketId);
  }

  closed(socketId: string): void {
    this.#reception.closed(socketId);
    this.#bodies.closed(socketId);
    this.#leave(socketId);
  }

  woke(): void {
    this.#wakeAt = null;
    const now = this.#ports.clock.now();
    this.#reception.showOut(now);
    const isDone = this.#unlessFull(() => {
      const expired = this.#connections.expired(now);
      this.#routing.woke(now);
      this.#agents.woke(now);
      this.#lanes.woke(now);
      if (expired.length > 0) this.#now(() => this.#connections.close(expired, 1008, "Credential expired"));
      if ((this.#timers.nextDueAt() ?? Infinity) <= now)
        this.#now(() => this.#timers.take(now).forEach((timer) => this.#sweeping.fire(timer.kind, now)));
    });
    if (isDone) this.#arm();
    else this.#wakeBy(now + RETRY_MS);
  }

  /** A batch did not reach the disk: memory follows the rows, and sockets whose identity went with them must return. */
  rolledBack(): void {
    this.#connections.forget();
    this.#repos.forget();
    this.#files.undone();
    // Before the ghosts go: what was answered must not be answered again because its row came back.
    this.#unlessFull(() => this.#routing.rolledBack());
    const open = this.#dropGhosts();
    for (const socketId of open) {
      if (this.#connections.caller(socketId) === undefined && !this.#reception.isStranger(socketId))
        this.#ports.sockets.close(socketId, 1011, "Storage failed");
    }
    this.#agents.rolledBack();
    this.#reception.rolledBack();
    this.#arm();
  }

  /** A request below /git/. */
  git(request: Request, address: string): Promise<Response> {
    this.#sweeping.touched();
    return this.#git.serve(request, address);
  }

  /** Something broke while a page was made: the id of the incident. */
  broken(call: string, error: unknown, address: string): string {
    return this.#ports.log.incident(this.#ports.crypto.uuid(), { call, address }, error);
  }

  /** Whether this is a live token of root's: what the operator's pages ask for. */
  isOperator(token: string): boolean {
    const now = this.#ports.clock.now();
    const found = this.#tokens.match(token, now);
    const account = found && this.#accounts.byUid(found.uid);
    if (found?.kind !== "user" || account?.uid !== 0 || account.locked) return false;
    this.#unlessFull(() => this.#relaxed(() => this.#tokens.used([found.tokenId], now)));
    return true;
  }

  /** Whether root listed this host as reachable although its address is not public. For the host's Net port. */
  mayReach(host: string, port: number): boolean {
    return allowList(...this.reachable())(host, port);
  }

  /** What that goes by, as `allowList` takes it: for processes that live elsewhere and connect from there. */
  reachable(): [string, ...string[]] {
    return [this.setting(ALLOWED_HOSTS_KEY), ...rootsModelServers(this.#config)];
  }

  /** After its answer, those who look at what the call changes are told; root may have changed somebody else's. */
  #telling({ changes }: Syscall, { uid }: Caller, args: unknown): (answer: Answer) => Answer {
    if (changes === undefined) return (answer) => answer;
    const { uid: whose } = args as { uid?: unknown };
    const tell = () => this.#emit.changed(typeof whose === "number" ? whose : uid, [changes]);
    return (answer) => ({ ...answer, after: [...answer.after, tell] });
  }

  /** Start-up is recovery: grant new defaults, and bring rows in line with the sockets that are really there. */
  #begin(capabilities: Capabilities): void {
    this.#now(() => {
      capabilities.seed(kernelCalls);
      this.#sweeping.begin();
    });
    const open = this.#dropGhosts();
    const known = new Set(this.#connections.all());
    for (const socketId of open) if (!known.has(socketId)) this.#reception.opened(socketId);
    this.#agents.begin();
    this.#arm();
  }

  /** A crash or a lost batch may have kept the row of a socket and lost its going. Returns the sockets that are there. */
  #dropGhosts(): ReadonlySet<string> {
    const open = new Set(this.#ports.sockets.list());
    const known = new Set([...this.#connections.all(), ...this.#devices.connectionIds()]);
    for (const connectionId of known) if (!open.has(connectionId)) this.#leave(connectionId);
    return open;
  }

  /**
   * Nobody waits for what the kernel does on its own account, and nobody catches what it throws. Where the disk does not
   * take it, the rows stay as they are: rolledBack drops the ghosts, and a wake tries again.
   */
  #unlessFull(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#ports.log.error("storage failed", { error: error.message });
      return false;
    }
  }

  #leave(socketId: string): void {
    this.#unlessFull(() =>
      this.#relaxed(() => {
        this.#connections.remove(socketId);
        this.#followers.connectionGone(socketId);
        const device = this.#devices.disconnected(socketId, this.#ports.clock.now());
        if (device !== null) this.#transactor.after(() => this.#emit.deviceStatus("disconnected", device, socketId));
      }),
    );
    this.#unlessFull(() => {
      this.#routing.driverGone(socketId);
      this.#routing.originGone(socketId);
    });
  }

  #usersOf(deviceKey: string, groups: Groups): { uid: number; device: Device }[] {
    const owner = this.#devices.get(deviceKey)?.ownerUid;
    if (owner === undefined) return [];
    const members = this.#devices.groupsOf(deviceKey).flatMap((gid) => groups.get(gid)?.members ?? []);
    const uids = new Set([owner, ROOT_UID, ...members.flatMap((username) => this.#accounts.byName(username)?.uid ?? [])]);
    return [...uids].flatMap((uid) => {
      const account = this.#accounts.byUid(uid);
      const seen = account && this.#devices.details(this.#accounts.identity(account), deviceKey);
      if (seen === undefined) return [];
      const { description: _, implements: __, ...device } = seen;
      return { uid, device };
    });
  }

  #relaxed<T>(body: () => T): T {
    const { value, after } = this.#transactor.relaxed(body);
    for (const action of after) action();
    return value;
  }

  /** Inside the transaction of a sweep. */
  #swept(now: number): void {
    // A token that is connected is in use, however long ago it came in.
    this.#transactor.after(() => this.#unlessFull(() => this.#relaxed(() => this.#tokens.used(this.#connections.tokenIds(), now))));
    this.#transactor.after(
      () =>
        void Promise.all([this.#native.sweep(), this.#repos.measure()]).catch((error: unknown) =>
          this.#ports.log.error("sweep failed", { error: String(error) }),
        ),
    );
  }

  #now(body: () => void): void {
    for (const action of this.#transactor.run(body).after) action();
  }

  /** One wake for the earliest of everything that is due. */
  #arm(): void {
    this.#wakeBy(this.#timers.nextDueAt());
    this.#wakeBy(this.#connections.nextExpiryAt());
    this.#wakeBy(this.#reception.nextDueAt());
    this.#wakeBy(this.#routing.nextDueAt());
    this.#wakeBy(this.#agents.nextDueAt());
    this.#wakeBy(this.#lanes.nextDueAt());
  }

  #wakeBy(dueAt: number | null): void {
    if (dueAt === null || (this.#wakeAt !== null && this.#wakeAt <= dueAt)) return;
    this.#wakeAt = dueAt;
    this.#ports.clock.wakeAt(dueAt);
  }
}
