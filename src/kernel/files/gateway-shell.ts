// The gateway's own shell, for one caller: starts commands in the host's Shells with the environment of the spec, and
// answers what they ask. Each of their operations passes the gate under the name of the call it amounts to, as the
// caller is at that moment.

import type { FileSystem } from "../../hardware/filesystem.ts";
import { OpError } from "../../hardware/outcome.ts";
import type { Shell } from "../../hardware/shell.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import { NetError } from "../../ports/net.ts";
import type { FileOp, ShellAsk, ShellCommand, ShellLink, ShellRequest, ShellResponse, Shells } from "../../ports/shells.ts";
import { type Caller, inside } from "../../protocol/caller.ts";
import { shellReply } from "../../shell/kernel-client.ts";
import type { Vfs } from "../../vfs/vfs.ts";
import type { ReadContext } from "../context.ts";
import type { Judge } from "../agents/judge.ts";
import { callsByName } from "../calls/table.ts";
import type { Gate } from "../gate.ts";
import { withPresence } from "../identity/present-caller.ts";
import type { Store } from "../store.ts";

/** What the shell asks of the kernel. */
type ShellKernel = {
  store: Store;
  gate: Gate;
  judge: Judge;
  /** Files as the caller sees them, for a call of that name. */
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

/** The calls an operation amounts to, with what each is about. */
function touched(op: FileOp, [path, to]: readonly unknown[]): [call: string, args: Record<string, unknown>][] {
  if (op === "stat" || op === "list") return [[CALL_OF[op], { path, namesOnly: true }]];
  if (op !== "rename") return [[CALL_OF[op], { path }]];
  return [
    ["fs.delete", { path }],
    ["fs.write", { path: to }],
  ];
}

/** How often what was lost is looked at again, and how often somebody else may be quicker. */
const TRIES = 3;
const FETCH_BYTES_MAX = 8 * 1024 * 1024;
const FETCH_MS_MAX = 60_000;
const TIMEOUT_MS_MAX = 10 * 60 * 1000;

export function gatewayShell(kernel: ShellKernel, caller: Caller, files: FileSystem, signal: AbortSignal): Shell {
  const { ports, reads } = kernel.store;
  const { shells } = ports;
  const { uid } = caller;
  const waitMs = () => number(reads, "config/shell/wait_ms", 10_000, 60_000);
  return {
    get waitMs() {
      return waitMs();
    },
    get waitMsMax() {
      return waitMs();
    },
    async start({ input, cwd, timeoutMs, tty }) {
      if (tty !== undefined) throw new OpError("The gateway's own shell has no terminal: leave tty out");
      const where = files.resolve(cwd ?? ".");
      const stat = await files.stat(where);
      if (stat.kind !== "directory") throw new OpError(`cwd is not a directory: ${where}`);
      const longest = number(reads, "config/shell/timeout_ms", 30_000, TIMEOUT_MS_MAX);
      const { gid, gids, username, home } = caller.process;
      const command = {
        input,
        cwd: where,
        env: environment(reads, caller, where),
        who: { uid, gid, gids, username, home },
        host: { name: name(reads), version: reads.about.version, platform: reads.about.host },
        timeoutMs: Math.min(timeoutMs ?? longest, longest),
        outputBytesMax: number(reads, "config/shell/max_output_bytes", 512 * 1024, 8 * 1024 * 1024),
      };
      return startInTurn(shells, command, link(kernel, withPresence(reads, caller)), signal);
    },
    wait: (sessionId, look, signal) => shells.wait(uid, sessionId, look, signal),
    send: (sessionId, sent, ms) => shells.send(uid, sessionId, sent, ms),
    end: (sessionId, why) => shells.end(uid, sessionId, why),
    list: () => shells.list(uid),
  };
}

/** Where too many of the user's commands run, it waits for one of them to end: for a while, and then it is refused. */
async function startInTurn(shells: Shells, command: ShellCommand, link: ShellLink, signal: AbortSignal): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await shells.start(command, link);
    } catch (error) {
      const isBusy = error instanceof SysError && error.code === 429;
      if (!isBusy || tries > TRIES || !(await shells.room(command.who.uid))) throw error;
      if (signal.aborted) fail(503, "The caller went away before this began");
    }
  }
}

function environment(reads: ReadContext, { process, agent }: Caller, cwd: string): Record<string, string> {
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
    HOSTNAME: name(reads),
    GSV_VERSION: reads.about.version,
  };
}

function link(kernel: ShellKernel, starter: Caller): ShellLink {
  return async (ask, signal) => {
    let thrown: unknown;
    const answered = answer(kernel, starter, ask, signal).catch((error: unknown) => {
      thrown = error;
      throw error;
    });
    const reply = await shellReply(answered);
    if (reply.ok || reply.failure.kind !== "fault") return reply;
    const { log, crypto } = kernel.store.ports;
    const incident = log.incident(crypto.uuid(), { call: "shell.exec", uid: starter.uid }, thrown);
    return { ok: false, failure: { kind: "fault", message: `Internal error (incident ${incident})` } };
  };
}

async function answer(kernel: ShellKernel, starter: Caller, ask: ShellAsk, signal: AbortSignal): Promise<unknown> {
  const caller = inside(starter.present?.() ?? fail(403, "Permission denied: the login this command was started with has ended"));
  switch (ask.kind) {
    case "file": {
      const { op } = ask;
      if (!Object.hasOwn(CALL_OF, op)) fail(400, "Unknown file operation");
      kernel.gate.authorize(caller, CALL_OF[op]);
      const files = kernel.filesFor(CALL_OF[op], caller, signal);
      // Texts are paths, and a path is made plain on this side of the wall.
      const args = ask.args.map((arg) => (typeof arg === "string" ? files.resolve(arg) : arg));
      if (caller.agent !== undefined)
        for (const [call, about] of touched(op, args)) await kernel.judge.pass(callsByName.get(call)!, caller, about);
      const work = () => (files[op] as (...args: readonly unknown[]) => Promise<unknown>).apply(files, args);
      return CALL_OF[op] === "fs.read" ? settled(kernel.store, work) : work();
    }
    case "sys":
      return kernel.gate.call(caller, ask.call, ask.args, signal);
    case "fetch":
      kernel.gate.authorize(caller, "shell.exec");
      kernel.judge.mayConnect(caller);
      return fetchFor(kernel, ask.request, signal);
  }
}

/** A command is told of nothing that may yet be taken back: what it saw in a batch that was lost, it looks at again. */
async function settled(store: Store, look: () => Promise<unknown>): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    const seen = await look().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const isKept = await store.durable().then(
      () => true,
      () => false,
    );
    if (!isKept && tries < TRIES) continue;
    if ("error" in seen) throw seen.error;
    return seen.value;
  }
}

async function fetchFor({ store: { ports, reads } }: ShellKernel, request: ShellRequest, signal: AbortSignal): Promise<ShellResponse> {
  if (reads.config.get("config/shell/network_enabled") === "false")
    fail(403, "The network is switched off for commands; root switches it on with config/shell/network_enabled");
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

function name(reads: ReadContext): string {
  return reads.config.get("config/server/name") || "gsv";
}

/** A setting somebody may have written anything into. */
function number(reads: ReadContext, key: string, otherwise: number, most: number): number {
  const value = Number(reads.config.get(key));
  return Number.isInteger(value) && value > 0 ? Math.min(value, most) : otherwise;
}
