// One socket of one user, and what is written through it. Each thing belongs to one lane, so that its writes have an order. A
// lane outlives the gateway: after a crash it opens a new socket.

import { WebSocket } from "ws";
import { type Auth, CallError, type Calls, Connection } from "../../../src/client/client.ts";
import { Calendar } from "./calendar.ts";
import { Commits } from "./commits.ts";
import type { Folder } from "./documents.ts";
import type { Group, Model, Op, Token, User } from "./model.ts";
import type { Register } from "./register.ts";

export type Person = { username: string; uid: number; token: string };
export type Outcome = "ok" | "cut" | "full" | "refused";
export type Session = Calls["sys.connect"]["result"];

const CONNECT_MS = 30_000;

export class Lane {
  readonly index: number;
  readonly person: Person;
  readonly model: Model;
  /** Registers that only this lane writes. */
  readonly hot: Register[];
  /** Keys that are meant to be written once. */
  readonly once: Register[] = [];
  readonly tokens: Token[] = [];
  readonly users: User[] = [];
  readonly groups: Group[] = [];
  readonly capabilities: { gid: number; capability: string; register: Register }[] = [];
  readonly folders: Folder[] = [];
  readonly commits: Commits;
  readonly calendar = new Calendar(this);
  /** How many were requested, in all cycles. */
  readonly asked = { tokens: 0, users: 0 };
  line: Connection | null = null;

  constructor(index: number, person: Person, model: Model, hot: Register[]) {
    this.index = index;
    this.person = person;
    this.model = model;
    this.hot = hot;
    this.commits = new Commits(`${person.username}/lane-${index}`);
  }

  /** The directory of its files, separate from those of the same user's other lanes. */
  get home(): string {
    return `${this.#userHome}/lane-${this.index}`;
  }

  /** The directory of its files in git, in a repository that the user's lanes share. */
  get knowledge(): string {
    return `${this.#userHome}/knowledge/lane-${this.index}`;
  }

  get #userHome(): string {
    const { uid, username } = this.person;
    return uid === 0 ? "/root" : `/home/${username}`;
  }

  async open(url: string): Promise<void> {
    const { username, token } = this.person;
    const { line } = await enter(url, { username, token }, { id: `lane-${this.index}` });
    this.line = line;
  }

  /** Never throws; returns the outcome. */
  async send(op: Op): Promise<Outcome> {
    const { oracle, unsure } = this.model;
    const n = oracle.intent(op.call, op.args, op.key);
    try {
      if (this.line === null) throw new Error("no socket");
      const data: unknown = await this.line.call<string>(op.call, op.args, op.key === undefined ? {} : { key: op.key });
      const text = JSON.stringify(data);
      oracle.ack(n, text, op.call);
      if (op.answer !== null && op.answer !== text) oracle.violate("doubled", `${op.call} with key ${op.key}: ${op.answer}, then ${text}`);
      op.answer = text;
      op.acked(data);
      if (op.key !== undefined) this.model.remember(op);
      return "ok";
    } catch (error) {
      if (!(error instanceof CallError)) {
        if (op.key !== undefined) unsure.add(op);
        return "cut";
      }
      oracle.note(`refused ${n} ${error.code} ${error.message}`);
      if (error.code !== 507) {
        oracle.violate("wrong", `${op.call} ${JSON.stringify(op.args).slice(0, 200)}: ${error.code} ${error.message}`);
        return "refused";
      }
      op.undone();
      if (op.key !== undefined) unsure.add(op);
      return "full";
    }
  }
}

/** Opens a socket and authenticates. `from` is the loopback address to connect from. */
export async function enter(
  url: string,
  auth: Auth,
  client: { id: string; role?: "user" | "driver" },
  from?: string,
): Promise<{ line: Connection; session: Session }> {
  const line = await Connection.open(url, socketFrom(from));
  try {
    const driver = client.role === "driver" ? { driver: { implements: ["fs.*"] } } : {};
    const args = { protocol: 1, client: { role: "user", ...client }, auth, ...driver };
    return { line, session: await line.call("sys.connect", args, { timeoutMs: CONNECT_MS }) };
  } catch (error) {
    line.close();
    throw error;
  }
}

/** Whether any address of 127.0.0.0/8 can be used without configuration. */
const HAS_LOOPBACK_NET = process.platform === "linux";

function socketFrom(localAddress: string | undefined) {
  return class extends WebSocket {
    constructor(url: string) {
      super(url, { perMessageDeflate: false, ...(localAddress === undefined || !HAS_LOOPBACK_NET ? {} : { localAddress }) });
    }
  };
}
