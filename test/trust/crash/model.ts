// What the gateway was asked for and has promised, thing by thing. judge.ts compares it with what the gateway lists.

import type { CallName, Calls } from "../../../src/client/client.ts";
import type { Oracle } from "./oracle.ts";
import { Register } from "./register.ts";

export type Issued = Calls["sys.token.create"]["result"]["token"];
export type TokenRow = Calls["sys.token.list"]["result"]["tokens"][number];
export type Account = Calls["sys.user.create"]["result"]["user"];

/** One request and what its answer means. A request with a key can be repeated after a cut. */
export type Op = {
  call: CallName;
  args: Record<string, unknown>;
  key: string | undefined;
  lane: number;
  /** The first answer, as text: every later one must equal it. */
  answer: string | null;
  acked(data: unknown): void;
  /** The gateway reported that nothing was kept. */
  undone(): void;
  /** Called before it is repeated: records what may become true now. */
  again(): void;
};

export type Token = {
  label: string;
  isKeyed: boolean;
  /** As acknowledged, with its value. */
  issued: Issued | null;
  /** As first listed. */
  row: TokenRow | null;
  revoked: Register;
  revokedAt: number | null;
};
export type User = {
  username: string;
  password: string;
  isKeyed: boolean;
  account: Account | null;
  locked: Register;
  triedPassword: boolean;
};
export type Group = { name: string; isKeyed: boolean; gid: number | null; members: Register };

const KEPT_ANSWERS = 400;

export class Model {
  readonly oracle: Oracle;
  readonly config = new Map<string, Register>();
  /** Keys that everybody may read and that are written constantly. */
  readonly shared: Register[] = [];
  readonly tokens = new Map<string, Token>();
  readonly users = new Map<string, User>();
  readonly groups = new Map<string, Group>();
  /** By "gid capability". */
  readonly capabilities = new Map<string, Register>();
  readonly devices = new Set<string>();
  /** Requests with a key that were cut: they will be repeated. */
  readonly unsure = new Set<Op>();
  /** Some requests with a key that were answered: they may be repeated at any time and must change nothing. */
  readonly answered: Op[] = [];
  #stamp = 0;

  constructor(oracle: Oracle) {
    this.oracle = oracle;
  }

  /** Increases with every call: values and names contain it, so that none occurs twice and their order shows. */
  stamp(): number {
    return ++this.#stamp;
  }

  remember(op: Op): void {
    this.unsure.delete(op);
    if (this.answered.length < KEPT_ANSWERS) this.answered.push(op);
    else this.answered[this.#stamp % KEPT_ANSWERS] = op;
  }

  register(key: string): Register {
    const known = this.config.get(key);
    if (known !== undefined) return known;
    const register = new Register(key, null);
    this.config.set(key, register);
    return register;
  }

  newToken(label: string, isKeyed: boolean): Token {
    const token: Token = { label, isKeyed, issued: null, row: null, revoked: new Register(`token ${label}`, "no"), revokedAt: null };
    this.tokens.set(label, token);
    return token;
  }

  tokenIssued(token: Token, issued: Issued): void {
    if (issued.label !== token.label) this.oracle.violate("wrong", `token ${token.label}: answered with label ${String(issued.label)}`);
    token.issued ??= issued;
  }

  newUser(username: string, password: string, isKeyed: boolean): User {
    const user: User = {
      username,
      password,
      isKeyed,
      account: null,
      locked: new Register(`lock of ${username}`, "no"),
      triedPassword: false,
    };
    this.users.set(username, user);
    return user;
  }

  newGroup(name: string, isKeyed: boolean): Group {
    const group: Group = { name, isKeyed, gid: null, members: new Register(`members of ${name}`, "") };
    this.groups.set(name, group);
    return group;
  }

  capability(gid: number, capability: string): Register {
    const name = `${gid} ${capability}`;
    const known = this.capabilities.get(name);
    if (known !== undefined) return known;
    const register = new Register(`capability ${name}`, "no");
    this.capabilities.set(name, register);
    return register;
  }

  /** Whether a user may make a call, by the capabilities of their groups. Only while no request is in progress. */
  mayCall(username: string, call: string): boolean {
    const account = this.users.get(username)?.account;
    const gids = new Set<number>([100, ...(account ? [account.gid] : [])]);
    for (const group of this.groups.values())
      if (group.gid !== null && group.members.newest?.split(",").includes(username)) gids.add(group.gid);
    return [...gids].some((gid) => this.capabilities.get(`${gid} ${call}`)?.newest === "yes");
  }
}
