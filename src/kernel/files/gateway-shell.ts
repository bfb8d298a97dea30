// The gateway's own shell, for one caller: starts commands in the host's Shells with the environment of the spec, and answers their
// requests. Each operation is authorized as the call it corresponds to, with the rights the caller has at that moment.

import type { FileSystem } from "../../hardware/filesystem.ts";
import { OpError } from "../../hardware/outcome.ts";
import type { Shell } from "../../hardware/shell.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import { NetError } from "../../ports/net.ts";
import type { FileOp, ShellAsk, ShellCommand, ShellLink, ShellHttpRequest, ShellHttpResponse, Shells } from "../../ports/shells.ts";
import { type Caller, nestedCaller } from "../../protocol/caller.ts";
import { toShellReply } from "../../shell/kernel-client.ts";
import type { Vfs } from "../../vfs/vfs.ts";
import type { ReadContext } from "../context.ts";
import type { Judge } from "../agents/judge.ts";
import { callsByName } from "../calls/table.ts";
import type { Gate } from "../gate.ts";
import { withRefresh } from "../identity/present-caller.ts";
import type { Store } from "../store.ts";

/** What the shell needs from the kernel. */
type ShellKernel = {
  store: Store;
  gate: Gate;
  judge: Judge;
  /** Files as the caller sees them, for the call of this name. */
  filesFor(call: string, caller: Caller, signal: AbortSignal): Vfs;
};

const CALL_OF: Record<FileOp, "fs.read" | "fs.write" | "fs.delete"> = {
  stat: "fs.read",
  list: "fs.read",
  read: "fs.read",
  write: "fs.write",
  append: "fs.write",
  makeDirectory: "fs.write",
  rename: "fs.write",
  setMode: "fs.write",
  setOwner: "fs.write",
  setModified: "fs.write",
  remove: "fs.delete",
};

/** The calls that a file operation corresponds to, with the arguments for the judge. */
function callsForFileOp(op: FileOp, [path, to]: readonly unknown[]): [call: string, args: Record<string, unknown>][] {
  if (op === "stat" || op === "list") return [[CALL_OF[op], { path, namesOnly: true }]];
  if (op !== "rename") return [[CALL_OF[op], { path }]];
  return [
    ["fs.delete", { path }],
    ["fs.write", { path: to }],
  ];
}

/** How often a read is tried when its batch is lost, and how often a start is retried when another command takes the free place. */
const TRIES = 3;
const FETCH_BYTES_MAX = 8 * 1024 * 1024;
const FETCH_MS_MAX = 60_000;
const TIMEOUT_MS_MAX = 10 * 60 * 1000;

export function makeGatewayShell(kernel: ShellKernel, caller: Caller, files: FileSystem, signal: AbortSignal): Shell {
  const { ports, reads } = kernel.store;
  const { shells } = ports;
  const { uid } = caller;
  const waitMs = () => readPositiveSetting(reads, "config/shell/wait_ms", 10_000, 60_000);
  return {
    get waitMs() {
      return waitMs();
    },
    get waitMsMax() {
      return waitMs();
    },
    async start({ input, cwd, timeoutMs, tty }) {
      if (tty !== undefined) throw new OpError("The gateway's shell has no terminal: leave tty out");
      const where = files.resolve(cwd ?? ".");
      const stat = await files.stat(where);
      if (stat.kind !== "directory") throw new OpError(`cwd is not a directory: ${where}`);
      const longest = readPositiveSetting(reads, "config/shell/timeout_ms", 30_000, TIMEOUT_MS_MAX);
      const { gid, gids, username, home } = caller.process;
      const command = {
        input,
        cwd: where,
        env: makeEnvironment(reads, caller, where),
        who: { uid, gid, gids, username, home, ...(caller.agent === undefined ? {} : { isAgent: true as const }) },
        host: { name: serverName(reads), version: reads.about.version, platform: reads.about.host },
        timeoutMs: Math.min(timeoutMs ?? longest, longest),
        outputBytesMax: readPositiveSetting(reads, "config/shell/max_output_bytes", 512 * 1024, 8 * 1024 * 1024),
      };
      return startWhenFree(shells, command, makeLink(kernel, withRefresh(reads, caller)), signal);
    },
    wait: (sessionId, look, signal) => shells.wait(uid, sessionId, look, signal),
    send: (sessionId, sent, ms) => shells.send(uid, sessionId, sent, ms),
    end: (sessionId, why) => shells.end(uid, sessionId, why),
    list: () => shells.list(uid),
  };
}

/** If too many commands of the user are running, waits a while for one of them to end, and then fails. */
async function startWhenFree(shells: Shells, command: ShellCommand, link: ShellLink, signal: AbortSignal): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await shells.start(command, link);
    } catch (error) {
      const isBusy = error instanceof SysError && error.code === 429;
      if (!isBusy || tries > TRIES || !(await shells.waitForRoom(command.who.uid))) throw error;
      if (signal.aborted) fail(503, "The call was cancelled before it started");
    }
  }
}

function makeEnvironment(reads: ReadContext, { process, agent }: Caller, cwd: string): Record<string, string> {
  return {
    HOME: process.home,
    USER: process.username,
    LOGNAME: process.username,
    SHELL: "/bin/bash",
    PATH: "/usr/local/bin:/usr/bin:/bin",
    PWD: cwd,
    TERM: "xterm-256color",
    LANG: "en_US.UTF-8",
    UID: String(process.uid),
    GSV_PID: agent?.pid ?? "",
    HOSTNAME: serverName(reads),
    GSV_VERSION: reads.about.version,
  };
}

function makeLink(kernel: ShellKernel, starter: Caller): ShellLink {
  return async (ask, signal) => {
    let thrown: unknown;
    const pending = answerAsk(kernel, starter, ask, signal).catch((error: unknown) => {
      thrown = error;
      throw error;
    });
    const reply = await toShellReply(pending);
    if (reply.ok || reply.failure.kind !== "fault") return reply;
    const { log, crypto } = kernel.store.ports;
    const incident = log.reportIncident(crypto.uuid(), { call: "shell.exec", uid: starter.uid }, thrown);
    return { ok: false, failure: { kind: "fault", message: `Internal error (incident ${incident})` } };
  };
}

async function answerAsk(kernel: ShellKernel, starter: Caller, ask: ShellAsk, signal: AbortSignal): Promise<unknown> {
  const caller = nestedCaller(starter.refresh?.() ?? fail(403, "Permission denied: the login that started this command has ended"));
  switch (ask.kind) {
    case "file": {
      const { op } = ask;
      if (!Object.hasOwn(CALL_OF, op)) fail(400, "Unknown file operation");
      kernel.gate.authorize(caller, CALL_OF[op]);
      const files = kernel.filesFor(CALL_OF[op], caller, signal);
      // String arguments are paths. They are resolved here, outside the command's reach.
      const args = ask.args.map((arg) => (typeof arg === "string" ? files.resolve(arg) : arg));
      if (caller.agent !== undefined)
        for (const [call, about] of callsForFileOp(op, args)) await kernel.judge.requireAllowed(callsByName.get(call)!, caller, about);
      const work = () => (files[op] as (...args: readonly unknown[]) => Promise<unknown>).apply(files, args);
      return CALL_OF[op] === "fs.read" ? readDurably(kernel.store, work) : work();
    }
    case "sys":
      return kernel.gate.call(caller, ask.call, ask.args, signal);
    case "fetch":
      kernel.gate.authorize(caller, "shell.exec");
      kernel.judge.checkMayConnect(caller);
      return fetchForShell(kernel, ask.request, signal);
  }
}

/** A command must not see rows that may still be rolled back: waits until the batch is durable, and reads again if it was lost. */
async function readDurably(store: Store, read: () => Promise<unknown>): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    const outcome = await read().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const isDurable = await store.durable().then(
      () => true,
      () => false,
    );
    if (!isDurable && tries < TRIES) continue;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}

async function fetchForShell(
  { store: { ports, reads } }: ShellKernel,
  request: ShellHttpRequest,
  signal: AbortSignal,
): Promise<ShellHttpResponse> {
  if (reads.config.get("config/shell/network_enabled") === "false")
    fail(403, "Commands may not use the network: root can allow it with config/shell/network_enabled");
  const { timeoutMs = FETCH_MS_MAX, ...rest } = request;
  try {
    const { body, ...response } = await ports.net.fetch(rest, {
      signal,
      bytesMax: FETCH_BYTES_MAX,
      timeoutMs: Math.min(timeoutMs, FETCH_MS_MAX),
    });
    return { ...response, body: new Uint8Array(await new Response(body).arrayBuffer()) };
  } catch (error) {
    if (error instanceof NetError) fail(503, error.message);
    throw error;
  }
}

function serverName(reads: ReadContext): string {
  return reads.config.get("config/server/name") || "gsv";
}

/** A setting that may hold any text: anything but a positive integer counts as the default. */
function readPositiveSetting(reads: ReadContext, key: string, fallback: number, max: number): number {
  const value = Number(reads.config.get(key));
  return Number.isInteger(value) && value > 0 ? Math.min(value, max) : fallback;
}
