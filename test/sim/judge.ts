// Observes everything that crosses the kernel's boundary and reports broken promises. It never looks into the kernel, only at
// frames and, through facts.ts, at rows. ledger.ts holds what was requested and promised.

import { EXTRA_HANDSHAKE_MS_MAX } from "../../src/kernel/reception.ts";
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
/** More wakes than this in one virtual second count as a spin. */
const WAKES_MAX = 40;
/** Well within the day for which a session is remembered. */
const SESSION_MS = 20 * 60 * 60 * 1000;

export type Line = {
  socketId: string;
  openedAt: number;
  identity: { uid: number; username: string; role: string; clientId: string; password?: string; tokenId?: string } | null;
  isClosing: boolean;
  isGone: boolean;
  /** Set if requests may legitimately stay unanswered. */
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
  readonly #routed = new Routed((what) => this.#report(what));
  /** The user who was told of each notification first. */
  readonly #notified = new Map<string, number>();
  readonly #spoken = new Spoken((what) => this.#report(what));
  #wakes: number[] = [];

  constructor(sql: MemorySql, now: () => number, lateMsMax: number) {
    this.#sql = sql;
    this.#now = now;
    this.#lateMsMax = lateMsMax;
    this.#ledger = new Ledger(sql, (what) => this.#report(what));
  }

  opened(socketId: string): void {
    const line = { socketId, openedAt: this.#now(), identity: null, isClosing: false, isGone: false, wasDisturbed: false, asked: [] };
    this.lines.set(socketId, line);
  }

  /** Called just before the kernel receives this text. */
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

  /** The kernel passed a frame to the host, which may still hold it back. */
  sent(socketId: string, raw: string): void {
    this.#ledger.tick();
    const frame = JSON.parse(raw) as Data;
    if (frame.type === "req") return this.#routed.sent(frame, deviceOf(this.#line(socketId)), socketId);
    if (frame.type !== "res") return;
    const line = this.#line(socketId);
    const answer = readAnswer(frame);
    const asked = findRequest(line, text(frame.id), answer, "isSent");
    if (asked === undefined) return;
    asked.isSent = true;
    this.#ledger.decided(asked, answer.ok);
    // A closing socket never receives the answer, and the identity ends with the socket.
    if (asked.call === "sys.connect" && answer.ok && !line.isClosing) this.#checkIdentity(line, asked, answer.data);
    if (!line.isClosing) this.#checkRights(line, asked, answer);
  }

  /** A frame is on the wire: its content is promised. */
  left(socketId: string, raw: string): void {
    this.#ledger.tick();
    if (raw === "pong") return;
    const frame = JSON.parse(raw) as Data;
    const line = this.#line(socketId);
    if (frame.type === "sig") return this.#checkSignal(line, frame);
    if (frame.type === "req") return this.#count("asked of a device");
    const answer = readAnswer(frame);
    this.#count(answer.ok ? "ok" : `error ${answer.code}`);
    if (frame.id === "?") return;
    const asked = findRequest(line, text(frame.id), answer, "hasLeft");
    if (asked === undefined)
      return this.#report(`${socketId} was answered to ${text(frame.id)}, which it did not ask or was answered before`);
    asked.hasLeft = true;
    if (line.identity !== null && Routed.isRouted(asked.args)) {
      this.#count(`${asked.call} on a device ${answer.ok ? "ok" : answer.code}`);
      return this.#routed.answered(asked.args, answer, this.#now());
    }
    if (!answer.ok) {
      // An answer that the kernel sent as ok may leave as an error if its batch was lost.
      this.#ledger.refused(asked);
      if (line.identity !== null && answer.message === "Must call sys.connect first") this.#report(`${socketId} lost its identity`);
      return;
    }
    this.#count(asked.call);
    this.#ledger.promised(asked, answer.data);
    if (Spoken.isSpoken(asked.call)) this.#spoken.promised(answer.data);
    const { identity } = line;
    if (identity === null) return;
    for (const leak of leaks(asked.call, answer.data, identity)) this.#report(`${identity.username} was shown a ${leak}`);
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

  /** A batch was lost: earlier requests may have been dropped because of it. */
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
    if (this.#wakes.length > WAKES_MAX) this.#report(`${this.#wakes.length} wakes in one second: the kernel spins`);
  }

  incident(line: string): void {
    this.#report(`the kernel reported a fault of its own: ${line}`);
  }

  threw(where: string, error: unknown): void {
    this.#report(`${where} threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Called after every step. */
  checkLines(): void {
    for (const line of this.lines.values()) {
      if (line.isGone || line.isClosing) continue;
      const due = line.openedAt + STRANGER_MS + EXTRA_HANDSHAKE_MS_MAX + this.#lateMsMax + SLACK_MS;
      if (line.identity === null && this.#now() > due) this.#report(`${line.socketId} has no identity and was not shown out in time`);
      const { username, password, tokenId } = line.identity ?? {};
      if (username === undefined) continue;
      const isOpen = `${line.socketId} of ${username} is open though`;
      if (!this.#ledger.may(`lock:${username}`, "false")) this.#report(`${isOpen} the account is locked`);
      if (password !== undefined && !this.#ledger.may(`password:${username}`, password))
        this.#report(`${isOpen} it came in with a password that was changed`);
      if (tokenId !== undefined && !this.#ledger.may(`revoked:${tokenId}`, "false")) this.#report(`${isOpen} its token is revoked`);
    }
  }

  /** Called after every start, and at the end. */
  checkRows(): void {
    this.#ledger.checkRows();
    const here = new Set([...this.lines.values()].filter((line) => !line.isGone).map((line) => line.socketId));
    for (const ghost of ghosts(this.#sql, here)) this.#report(ghost);
    const sessions = new Set(this.#sql.all("SELECT session_id AS id FROM shell_sessions").map((row) => String(row.id)));
    for (const sessionId of this.#routed.missing(sessions, this.#now() - SESSION_MS))
      this.#report(`session ${sessionId} was told of and is not there`);
  }

  /** Called once faults have stopped and everything had time to finish. */
  checkQuiet(processes: MemoryProcesses): void {
    this.checkRows();
    this.counts["run ended"] = this.#spoken.checkQuiet(processes);
    const routes = Number(this.#sql.get("SELECT count(*) AS count FROM routes")?.count);
    if (routes > 0) this.#report(`${routes} routes were left behind`);
    const seen = new Map<string, string>();
    const known = new Set(this.#sql.all("SELECT connection_id AS id FROM connections").map((row) => String(row.id)));
    for (const line of this.lines.values()) {
      if (line.isGone || line.isClosing) continue;
      for (const asked of line.asked)
        if (!asked.hasLeft && (!line.wasDisturbed || (Routed.isRouted(asked.args) && this.#routed.wasSent(asked.args))))
          this.#report(`${line.socketId} was never answered to ${asked.id} ${asked.call}`);
      if (line.identity === null) continue;
      if (!known.has(line.socketId)) this.#report(`${line.socketId} is open but not among the connections`);
      const { username, role, clientId, tokenId } = line.identity;
      const other = seen.get(`${username} ${role} ${clientId}`);
      if (other !== undefined) this.#report(`${other} and ${line.socketId} are both ${role} ${clientId} of ${username}`);
      seen.set(`${username} ${role} ${clientId}`, line.socketId);
      const expiresAt = this.#ledger.token(undefined, tokenId)?.expiresAt ?? Infinity;
      if (expiresAt + STRANGER_MS + this.#lateMsMax < this.#now()) this.#report(`${line.socketId} is open though its token expired`);
    }
    const integrity = JSON.stringify(this.#sql.inspect("PRAGMA integrity_check"));
    if (!integrity.includes('"ok"')) this.#report(`integrity_check says ${integrity}`);
    if (this.#ledger.replays > 0) this.counts.replay = this.#ledger.replays;
  }

  #checkIdentity(line: Line, asked: Asked, data: Data): void {
    const { identity, syscalls } = data as { identity: { role: string; process: Data; capabilities: string[] }; syscalls: string[] };
    if (line.identity !== null) this.#report(`${line.socketId} got a second identity`);
    const username = text(identity.process.username);
    const auth = asked.args.auth as { username: string; password?: string; token?: string };
    if (username !== auth.username || identity.process.uid !== uidOf(this.#sql, username))
      this.#report(`${line.socketId} asked to be ${auth.username} and became ${username}`);
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
      this.#report(`${line.socketId} was told it may call ${JSON.stringify(syscalls)}, the rows say ${wanted}`);
    if (token?.expiresAt != null && token.expiresAt <= asked.at) this.#report(`${line.socketId} came in with an expired token`);
  }

  #checkRights({ socketId, identity }: Line, asked: Asked, answer: Answer): void {
    if (identity === null || asked.uid === null || asked.call === "sys.connect" || asked.call === "sys.setup") return;
    if (answer.ok && !asked.mayCall) this.#report(`${identity.username} was answered to ${asked.call} without holding it`);
    if (!answer.ok && answer.message === `Permission denied: ${asked.call}` && asked.mayCall && asked.isSync && identity.role === "user")
      this.#report(`${identity.username} was denied ${asked.call} though it holds it`);
    const expiresAt = this.#ledger.token(undefined, identity.tokenId)?.expiresAt ?? Infinity;
    if (answer.ok && expiresAt <= asked.at) this.#report(`${socketId} was answered after its token expired`);
  }

  #checkSignal(line: Line, frame: Data): void {
    this.#count(text(frame.signal));
    if (frame.signal === "exec.status") {
      const { sessionId } = frame.payload as { sessionId: string };
      if (!this.#routed.mayHear(line.identity?.uid, sessionId) || line.identity?.role !== "user")
        this.#report(`${line.socketId} was told of session ${sessionId}`);
      return;
    }
    if (/^(proc|chat)\./.test(text(frame.signal))) return this.#spoken.heard(line.identity?.uid, frame.payload as Data);
    // This signal says only that something has changed, not what it is.
    if (frame.signal === "sys.changed") {
      if (line.identity?.role !== "user" || Object.keys(frame.payload as Data).join() !== "changes")
        this.#report(`${line.socketId} was told what has changed`);
      return;
    }
    if (text(frame.signal).startsWith("notification.")) return this.#checkNotification(line, frame.payload as Data);
    const { device } = frame.payload as { device: { deviceId: string; ownerUid: number } };
    const { uid, role } = line.identity ?? {};
    if (role === "user" && (uid === 0 || uid === device.ownerUid)) return;
    const isOwnDevice = line.asked.some(
      ({ call, args }) => call === "sys.connect" && (args.client as Data | undefined)?.id === device.deviceId,
    );
    if (!isOwnDevice)
      this.#report(`${line.socketId} (uid ${String(uid)}, ${String(role)}) was told of device ${device.deviceId} of ${device.ownerUid}`);
  }

  /** A notification is one user's, and only people's clients are told of it. */
  #checkNotification({ socketId, identity }: Line, payload: Data): void {
    const { notificationId } = payload.notification as { notificationId: string };
    const uid = identity?.uid ?? -1;
    const owner = this.#notified.get(notificationId) ?? uid;
    this.#notified.set(notificationId, owner);
    if (identity?.role !== "user" || uid !== owner)
      this.#report(`${socketId} (uid ${uid}, ${String(identity?.role)}) was told of notification ${notificationId} of ${owner}`);
  }

  #line(socketId: string): Line {
    return this.lines.get(socketId)!;
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #report(what: string): void {
    if (!this.violations.includes(what)) this.violations.push(what);
  }
}

/** The oldest unanswered request with this id; the newest if the answer refuses it as a duplicate. */
function findRequest(line: Line, id: string, answer: Answer, mark: "isSent" | "hasLeft"): Asked | undefined {
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
