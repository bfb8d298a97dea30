// Watches everything that crosses the border of the kernel and says when a promise was broken. Never looks into the
// kernel, only at frames and, through facts.ts, at rows. What was asked for and promised is in ledger.ts.

import { SPARED_MS_MAX } from "../../src/kernel/reception.ts";
import { kernelCalls } from "../../src/kernel/calls/table.ts";
import type { MemorySql } from "../support/memory/sql.ts";
import { capabilitiesOf, ghosts, uidOf } from "./facts.ts";
import { type Asked, Ledger } from "./ledger.ts";
import type { MemoryProcesses } from "../support/memory/processes.ts";
import { Routed } from "./routed.ts";
import { Spoken } from "./spoken.ts";
import { allows, type Answer, type Data, fileShown, leaks, readAnswer, text } from "./requests.ts";

export const STRANGER_MS = 10_000;
const SLACK_MS = 500;
/** More wakes than this in one virtual second is a spin. */
const WAKES_MAX = 40;
/** Well within the day for which a session is remembered. */
const SESSION_MS = 20 * 60 * 60 * 1000;

export type Line = {
  socketId: string;
  openedAt: number;
  identity: { uid: number; username: string; role: string; clientId: string; password?: string; tokenId?: string } | null;
  isClosing: boolean;
  isGone: boolean;
  /** Set where requests may go unanswered for a good reason. */
  wasDisturbed: boolean;
  asked: Asked[];
};

export class Judge {
  readonly violations: string[] = [];
  readonly counts: Record<string, number> = {};
  readonly lines = new Map<string, Line>();
  readonly #sql: MemorySql;
  readonly #now: () => number;
  readonly #lateMsMax: number;
  readonly #ledger: Ledger;
  readonly #routed = new Routed((what) => this.#broken(what));
  readonly #spoken = new Spoken((what) => this.#broken(what));
  #wakes: number[] = [];

  constructor(sql: MemorySql, now: () => number, lateMsMax: number) {
    this.#sql = sql;
    this.#now = now;
    this.#lateMsMax = lateMsMax;
    this.#ledger = new Ledger(sql, (what) => this.#broken(what));
  }

  opened(socketId: string): void {
    const line = { socketId, openedAt: this.#now(), identity: null, isClosing: false, isGone: false, wasDisturbed: false, asked: [] };
    this.lines.set(socketId, line);
  }

  /** Just before the kernel is given this text. */
  delivered(socketId: string, raw: string): void {
    const moment = this.#ledger.tick();
    const line = this.#line(socketId);
    const frame = parseRequest(raw);
    if (frame === null) return;
    const { id, call, args } = frame;
    const { does, runs } = kernelCalls.find((known) => known.name === call) ?? {};
    const who = line.identity;
    const asked: Asked = {
      id,
      call,
      args,
      // Neither reads nor file calls are stored under their key.
      key: does === "read" || runs === "hardware" ? undefined : frame.key,
      uid: who?.uid ?? null,
      username: who?.username ?? "",
      at: Math.floor(this.#now()),
      moment,
      mayCall: who !== null && allows(capabilitiesOf(this.#sql, who.role, who.username), call),
      isSync: does !== "effect" && runs !== "hardware",
      writes: [],
      isSent: false,
      hasLeft: false,
    };
    if (!line.isClosing) line.asked.push(asked);
    if (who !== null && runs === "hardware" && Routed.isRouted(args)) return this.#routed.asked(who.uid, call, args, frame.key);
    if (who !== null && Spoken.isSpoken(call)) this.#spoken.asked(who.uid, args);
    if (who !== null || call === "sys.setup") this.#ledger.asked(asked);
  }

  /** The kernel handed a frame over; it may still be held back. */
  sent(socketId: string, raw: string): void {
    this.#ledger.tick();
    const frame = JSON.parse(raw) as Data;
    if (frame.type === "req") return this.#routed.sent(frame, deviceOf(this.#line(socketId)), socketId);
    if (frame.type !== "res") return;
    const line = this.#line(socketId);
    const answer = readAnswer(frame);
    const asked = findAsked(line, text(frame.id), answer, "isSent");
    if (asked === undefined) return;
    asked.isSent = true;
    this.#ledger.decided(asked, answer.ok);
    // On a closing socket nobody hears of it, and it ends with the socket.
    if (asked.call === "sys.connect" && answer.ok && !line.isClosing) this.#identified(line, asked, answer.data);
    if (!line.isClosing) this.#checkRights(line, asked, answer);
  }

  /** A frame is on the wire: what it says is promised. */
  left(socketId: string, raw: string): void {
    this.#ledger.tick();
    if (raw === "pong") return;
    const frame = JSON.parse(raw) as Data;
    const line = this.#line(socketId);
    if (frame.type === "sig") return this.#signal(line, frame);
    if (frame.type === "req") return this.#count("asked of a device");
    const answer = readAnswer(frame);
    this.#count(answer.ok ? "ok" : `error ${answer.code}`);
    if (frame.id === "?") return;
    const asked = findAsked(line, text(frame.id), answer, "hasLeft");
    if (asked === undefined)
      return this.#broken(`${socketId} was answered to ${text(frame.id)}, which it did not ask or was answered before`);
    asked.hasLeft = true;
    if (line.identity !== null && Routed.isRouted(asked.args)) {
      this.#count(`${asked.call} on a device ${answer.ok ? "ok" : answer.code}`);
      return this.#routed.answered(asked.args, answer, this.#now());
    }
    if (!answer.ok) {
      // An answer that was handed over as a yes can still leave as a no, where its batch was lost.
      this.#ledger.refused(asked);
      if (line.identity !== null && answer.message === "Must call sys.connect first") this.#broken(`${socketId} lost its identity`);
      return;
    }
    this.#count(asked.call);
    this.#ledger.promised(asked, answer.data);
    if (Spoken.isSpoken(asked.call)) this.#spoken.promised(answer.data);
    const { identity } = line;
    if (identity === null) return;
    for (const leak of leaks(asked.call, answer.data, identity)) this.#broken(`${identity.username} was shown a ${leak}`);
    const file = asked.call === "fs.read" ? fileShown(answer.data) : null;
    if (file !== null) this.#ledger.shownFile(...file, asked.moment);
    if (asked.call === "sys.config.get") this.#ledger.shown(answer.data.entries as { key: string; value: string }[], asked.moment);
  }

  closing(socketId: string): void {
    this.#line(socketId).isClosing = true;
  }

  gone(socketId: string): void {
    this.#line(socketId).isGone = true;
  }

  /** A batch was lost: who asked something before may have been ignored on the strength of it. */
  rolledBack(): void {
    this.#routed.rolledBack(this.#now());
    this.#count("batch lost");
    for (const line of this.lines.values()) line.wasDisturbed = true;
  }

  /** A device carried something out. */
  did(token: string): void {
    this.#routed.did(token);
  }

  crashed(): void {
    this.#ledger.tick();
    this.#count("crash");
    for (const line of this.lines.values()) for (const asked of line.asked) this.#ledger.ended(asked);
  }

  hibernated(): void {
    this.#count("hibernation");
  }

  woke(): void {
    const now = this.#now();
    this.#wakes = [...this.#wakes.filter((at) => at > now - 1000), now];
    if (this.#wakes.length > WAKES_MAX) this.#broken(`${this.#wakes.length} wakes in one second: the kernel spins`);
  }

  incident(line: string): void {
    this.#broken(`the kernel reported a fault of its own: ${line}`);
  }

  threw(where: string, error: unknown): void {
    this.#broken(`${where} threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** After every step. */
  checkLines(): void {
    for (const line of this.lines.values()) {
      if (line.isGone || line.isClosing) continue;
      const due = line.openedAt + STRANGER_MS + SPARED_MS_MAX + this.#lateMsMax + SLACK_MS;
      if (line.identity === null && this.#now() > due) this.#broken(`${line.socketId} has no identity and was not shown out in time`);
      const { username, password, tokenId } = line.identity ?? {};
      if (username === undefined) continue;
      const isOpen = `${line.socketId} of ${username} is open though`;
      if (!this.#ledger.may(`lock:${username}`, "false")) this.#broken(`${isOpen} the account is locked`);
      if (password !== undefined && !this.#ledger.may(`password:${username}`, password))
        this.#broken(`${isOpen} it came in with a password that was changed`);
      if (tokenId !== undefined && !this.#ledger.may(`revoked:${tokenId}`, "false")) this.#broken(`${isOpen} its token is revoked`);
    }
  }

  /** After every start, and at the end. */
  checkRows(): void {
    this.#ledger.checkRows();
    const here = new Set([...this.lines.values()].filter((line) => !line.isGone).map((line) => line.socketId));
    for (const ghost of ghosts(this.#sql, here)) this.#broken(ghost);
    const sessions = new Set(this.#sql.all("SELECT session_id AS id FROM shell_sessions").map((row) => String(row.id)));
    for (const sessionId of this.#routed.missing(sessions, this.#now() - SESSION_MS))
      this.#broken(`session ${sessionId} was told of and is not there`);
  }

  /** Once faults have stopped and everything has had its time. */
  checkQuiet(processes: MemoryProcesses): void {
    this.checkRows();
    this.counts["run ended"] = this.#spoken.checkQuiet(processes);
    const routes = Number(this.#sql.get("SELECT count(*) AS count FROM routes")?.count);
    if (routes > 0) this.#broken(`${routes} routes were left behind`);
    const seen = new Map<string, string>();
    const known = new Set(this.#sql.all("SELECT connection_id AS id FROM connections").map((row) => String(row.id)));
    for (const line of this.lines.values()) {
      if (line.isGone || line.isClosing) continue;
      for (const asked of line.asked)
        if (!asked.hasLeft && (!line.wasDisturbed || (Routed.isRouted(asked.args) && this.#routed.wasSent(asked.args))))
          this.#broken(`${line.socketId} was never answered to ${asked.id} ${asked.call}`);
      if (line.identity === null) continue;
      if (!known.has(line.socketId)) this.#broken(`${line.socketId} is open but not among the connections`);
      const { username, role, clientId, tokenId } = line.identity;
      const other = seen.get(`${username} ${role} ${clientId}`);
      if (other !== undefined) this.#broken(`${other} and ${line.socketId} are both ${role} ${clientId} of ${username}`);
      seen.set(`${username} ${role} ${clientId}`, line.socketId);
      const expiresAt = this.#ledger.token(undefined, tokenId)?.expiresAt ?? Infinity;
      if (expiresAt + STRANGER_MS + this.#lateMsMax < this.#now()) this.#broken(`${line.socketId} is open though its token expired`);
    }
    const integrity = JSON.stringify(this.#sql.inspect("PRAGMA integrity_check"));
    if (!integrity.includes('"ok"')) this.#broken(`integrity_check says ${integrity}`);
    if (this.#ledger.replays > 0) this.counts.replay = this.#ledger.replays;
  }

  #identified(line: Line, asked: Asked, data: Data): void {
    const { identity, syscalls } = data as { identity: { role: string; process: Data; capabilities: string[] }; syscalls: string[] };
    if (line.identity !== null) this.#broken(`${line.socketId} got a second identity`);
    const username = text(identity.process.username);
    const auth = asked.args.auth as { username: string; password?: string; token?: string };
    if (username !== auth.username || identity.process.uid !== uidOf(this.#sql, username))
      this.#broken(`${line.socketId} asked to be ${auth.username} and became ${username}`);
    const token = auth.token === undefined ? undefined : this.#ledger.token(auth.token);
    line.identity = {
      uid: Number(identity.process.uid),
      username,
      role: identity.role,
      clientId: text((asked.args.client as Data).id),
      ...(auth.password === undefined ? {} : { password: auth.password }),
      ...(token === undefined ? {} : { tokenId: token.tokenId }),
    };
    const wanted = JSON.stringify(capabilitiesOf(this.#sql, identity.role, username));
    if (JSON.stringify(syscalls) !== wanted || JSON.stringify(identity.capabilities) !== wanted)
      this.#broken(`${line.socketId} was told it may call ${JSON.stringify(syscalls)}, the rows say ${wanted}`);
    if (token?.expiresAt != null && token.expiresAt <= asked.at) this.#broken(`${line.socketId} came in with an expired token`);
  }

  #checkRights({ socketId, identity }: Line, asked: Asked, answer: Answer): void {
    if (identity === null || asked.uid === null || asked.call === "sys.connect" || asked.call === "sys.setup") return;
    if (answer.ok && !asked.mayCall) this.#broken(`${identity.username} was answered to ${asked.call} without holding it`);
    if (!answer.ok && answer.message === `Permission denied: ${asked.call}` && asked.mayCall && asked.isSync && identity.role === "user")
      this.#broken(`${identity.username} was denied ${asked.call} though it holds it`);
    const expiresAt = this.#ledger.token(undefined, identity.tokenId)?.expiresAt ?? Infinity;
    if (answer.ok && expiresAt <= asked.at) this.#broken(`${socketId} was answered after its token expired`);
  }

  #signal(line: Line, frame: Data): void {
    this.#count(text(frame.signal));
    if (frame.signal === "exec.status") {
      const { sessionId } = frame.payload as { sessionId: string };
      if (!this.#routed.mayHear(line.identity?.uid, sessionId) || line.identity?.role !== "user")
        this.#broken(`${line.socketId} was told of session ${sessionId}`);
      return;
    }
    if (/^(proc|chat)\./.test(text(frame.signal))) return this.#spoken.heard(line.identity?.uid, frame.payload as Data);
    // It says that something has changed, and nothing of it.
    if (frame.signal === "sys.changed") {
      if (line.identity?.role !== "user" || Object.keys(frame.payload as Data).join() !== "changes")
        this.#broken(`${line.socketId} was told what has changed`);
      return;
    }
    const { device } = frame.payload as { device: { deviceId: string; ownerUid: number } };
    const { uid, role } = line.identity ?? {};
    if (role === "user" && (uid === 0 || uid === device.ownerUid)) return;
    const isItself = line.asked.some(
      ({ call, args }) => call === "sys.connect" && (args.client as Data | undefined)?.id === device.deviceId,
    );
    if (!isItself)
      this.#broken(`${line.socketId} (uid ${String(uid)}, ${String(role)}) was told of device ${device.deviceId} of ${device.ownerUid}`);
  }

  #line(socketId: string): Line {
    return this.lines.get(socketId)!;
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #broken(what: string): void {
    if (!this.violations.includes(what)) this.violations.push(what);
  }
}

/** The oldest unanswered request with this id; the newest where the answer is about its being a second one. */
function findAsked(line: Line, id: string, answer: Answer, mark: "isSent" | "hasLeft"): Asked | undefined {
  const open = line.asked.filter((asked) => asked.id === id && !asked[mark]);
  const isDouble = !answer.ok && answer.message === "A request with this id is in flight";
  return isDouble ? open.at(-1) : open[0];
}

function parseRequest(raw: string): { id: string; call: string; args: Data; key: string | undefined } | null {
  try {
    const frame = JSON.parse(raw) as Data | null;
    if (frame?.type !== "req" || typeof frame.id !== "string" || frame.id === "" || frame.id.length > 128) return null;
    const args = (frame.args ?? {}) as Data;
    return { id: frame.id, call: text(frame.call), args, key: typeof frame.key === "string" ? frame.key : undefined };
  } catch {
    return null;
  }
}

function deviceOf({ identity }: Line): string | null {
  return identity?.role === "driver" ? identity.clientId : null;
}
