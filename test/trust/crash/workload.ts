// The seeded mix of requests, lane by lane. Each request tells the model what it may change before it is sent.

import type { Calls } from "../../../src/client/client.ts";
import { Commits } from "./commits.ts";
import { Filing } from "./filing.ts";
import type { Lane } from "./lane.ts";
import type { Issued, Op } from "./model.ts";
import { Planning } from "./planning.ts";
import type { Random } from "./random.ts";
import type { Register } from "./register.ts";

/** How much one lane may add in one cycle of what only grows. */
const CYCLE_QUOTA = { keys: 60, tokens: 8, users: 1, groups: 1, commits: 40 };
const GROUPS_MAX = 300;
/** In all cycles, so that a user with two lanes stays below the gateway's limits, however long the campaign is. */
const LANE_MAX = { keys: 400, tokens: 300, users: 150 };
const TOGGLED = ["sys.info", "sys.connection.list", "sys.user.list", "sys.group.list"];

export class Workload {
  readonly #lane: Lane;
  readonly #random: Random;
  readonly #people: readonly string[];
  readonly #left = { ...CYCLE_QUOTA };
  readonly filing: Filing;
  readonly planning: Planning;

  constructor(lane: Lane, random: Random, people: readonly string[]) {
    this.#lane = lane;
    this.#random = random;
    this.#people = people;
    this.filing = new Filing(lane, random.fork(1));
    this.planning = new Planning(lane, random.fork(2));
    // Creating a user hashes a password, which is slow on purpose.
    if (random.chance(0.5)) this.#left.users = 0;
  }

  /** Keeps `depth` requests in flight until the socket is cut. */
  async run(depth: number): Promise<void> {
    await Promise.all(Array.from({ length: depth }, () => this.#worker()));
  }

  async #worker(): Promise<void> {
    for (;;) {
      const op = this.next();
      // A client that does not trust its socket sends twice; with a key that is harmless.
      const outcomes =
        op.key !== undefined && this.#random.chance(0.1) ? [this.#lane.send(op), this.#lane.send(op)] : [this.#lane.send(op)];
      if ((await Promise.all(outcomes)).some((outcome) => outcome === "cut" || outcome === "refused")) return;
    }
  }

  next(): Op {
    const random = this.#random;
    if (random.chance(0.2)) return this.filing.next() ?? this.overwrite();
    if (random.chance(0.1)) return this.planning.next() ?? this.overwrite();
    if (random.chance(0.1) && this.#left.commits-- > 0) return this.commit(random.chance(0.4));
    const roll = random.next();
    const special = this.#lane.person.uid === 0 && random.chance(0.25) ? this.#administer(roll) : this.#ordinary(roll);
    return special ?? this.overwrite();
  }

  overwrite(isKeyed = this.#random.chance(0.35)): Op {
    return this.set(this.#random.pick(this.#lane.hot)!, isKeyed);
  }

  set(register: Register, isKeyed: boolean, length = this.#length()): Op {
    const text = `${this.#lane.model.stamp()}|${register.name}|`.padEnd(length, "padding ");
    let version = register.send(() => text);
    return this.#op("sys.config.set", { key: register.name, value: text }, isKeyed, {
      acked: () => register.ack(version),
      undone() {
        register.undo(version);
        version = Infinity;
      },
      again() {
        if (version > register.floor) version = register.send(() => text);
      },
    });
  }

  createToken(isKeyed: boolean): Op {
    const { model, person } = this.#lane;
    const token = model.newToken(`t${model.stamp()}`, isKeyed);
    const uid = person.uid === 0 ? (this.#random.pick(this.#lane.users)?.account?.uid ?? 0) : person.uid;
    const kind = this.#random.chance(0.8) ? "user" : "node";
    return this.#op("sys.token.create", { kind, uid, label: token.label }, isKeyed, {
      acked: (data) => {
        if (token.issued === null) this.#lane.tokens.push(token);
        model.tokenIssued(token, (data as { token: Issued }).token);
      },
      undone: () => void (isKeyed || model.tokens.delete(token.label)),
    });
  }

  commit(isKeyed: boolean): Op {
    const { commits, model } = this.#lane;
    const stamp = model.stamp();
    commits.send(stamp);
    return this.#op("repo.apply", Commits.args(commits.repo, stamp), isKeyed, {
      acked: (data) => commits.ack(stamp, (data as { head: string }).head),
      undone: () => commits.undo(stamp),
      again: () => commits.send(stamp),
    });
  }

  #ordinary(roll: number): Op | undefined {
    if (roll < 0.12 && this.#left.keys-- > 0) return this.set(this.#newKey(), this.#random.chance(0.4), this.#random.int(0, 120));
    if (roll < 0.17 && this.#left.tokens-- > 0 && this.#lane.asked.tokens++ < LANE_MAX.tokens)
      return this.createToken(this.#random.chance(0.5));
    if (roll < 0.2) return this.#revokeToken();
    if (roll < 0.35) return this.#readOwn();
    if (roll < 0.4) return this.#readOthers();
    return undefined;
  }

  #administer(roll: number): Op | undefined {
    if (roll < 0.1 && this.#left.users-- > 0 && this.#lane.asked.users++ < LANE_MAX.users) return this.#createUser();
    if (roll < 0.2 && this.#left.groups-- > 0 && this.#lane.model.groups.size < GROUPS_MAX) return this.#createGroup();
    if (roll < 0.45) return this.#setMembers();
    if (roll < 0.8) return this.#toggleCapability();
    return this.#lockUser();
  }

  #newKey(): Register {
    const { model, person, index, once } = this.#lane;
    if (once.length >= LANE_MAX.keys) return this.#random.pick(once)!;
    const below = person.uid === 0 ? `config/crash/${index}` : `users/${person.uid}/ai/crash/${index}`;
    const register = model.register(`${below}/once/${model.stamp()}${this.#random.chance(0.05) ? "_secret" : ""}`);
    once.push(register);
    return register;
  }

  #length(): number {
    return this.#random.chance(0.04) ? this.#random.int(2_000, 40_000) : this.#random.int(0, 120);
  }

  #revokeToken(): Op | undefined {
    const { tokens } = this.#lane;
    const token = this.#random.pick(tokens);
    if (token?.issued == null || !token.revoked.isSettled || token.revoked.newest !== "no") return undefined;
    return this.#toggle("sys.token.revoke", { tokenId: token.issued.tokenId }, token.revoked, "yes", { revoked: true });
  }

  /** A socket must read what it wrote before; and a value that was read must survive. */
  #readOwn(): Op {
    const register = this.#random.pick(this.#lane.hot)!;
    const { newest, last } = register;
    return this.#op("sys.config.get", { key: register.name }, false, {
      acked: (data) => {
        const value = valueIn(data);
        if (value !== newest)
          this.#lane.model.oracle.violate("wrong", `${register.name}: wrote ${newest?.slice(0, 60)}, read ${value?.slice(0, 60)}`);
        register.ack(last);
      },
    });
  }

  /** Must read nothing older than what was acknowledged before the request; and a value that was read must survive. */
  #readOthers(): Op | undefined {
    const { model } = this.#lane;
    const register = this.#random.pick(model.shared);
    if (register === undefined) return undefined;
    const { oldest } = register;
    return this.#op("sys.config.get", { key: register.name }, false, {
      acked(data) {
        const value = valueIn(data);
        if (stampIn(value) < stampIn(oldest))
          model.oracle.violate("lost", `${register.name}: read ${value?.slice(0, 60)} after ${oldest?.slice(0, 60)} was acknowledged`);
        register.seen(value);
      },
    });
  }

  #createUser(): Op {
    const { model, users } = this.#lane;
    const username = `u${model.stamp()}`;
    const isKeyed = this.#random.chance(0.5);
    const user = model.newUser(username, `password of ${username}`, isKeyed);
    return this.#op("sys.user.create", { username, password: user.password }, isKeyed, {
      acked(data) {
        const { user: account } = data as Calls["sys.user.create"]["result"];
        if (!users.includes(user)) users.push(user);
        user.account ??= account;
      },
    });
  }

  #createGroup(): Op {
    const { model, groups } = this.#lane;
    const isKeyed = this.#random.chance(0.5);
    const group = model.newGroup(`g${model.stamp()}`, isKeyed);
    return this.#op("sys.group.create", { name: group.name }, isKeyed, {
      acked: (data) => {
        const { gid } = (data as Calls["sys.group.create"]["result"]).group;
        if (group.gid === null) this.#own(gid);
        if (!groups.includes(group)) groups.push(group);
        group.gid ??= gid;
      },
    });
  }

  #own(gid: number): void {
    const { model, capabilities } = this.#lane;
    for (const capability of TOGGLED) capabilities.push({ gid, capability, register: model.capability(gid, capability) });
  }

  /** The members count in binary, so that no two lists in flight are the same. */
  #setMembers(): Op | undefined {
    const group = this.#random.pick(this.#lane.groups);
    if (group?.gid == null || group.members.last - group.members.floor > 2 ** this.#people.length - 2) return undefined;
    const { members: register, gid } = group;
    const members = this.#people.filter((_, bit) => ((register.last + 1) >> bit) & 1).toSorted();
    const text = members.join(",");
    let version = register.send(() => text);
    return this.#op("sys.group.members", { gid, members }, this.#random.chance(0.3), {
      acked: () => register.ack(version),
      again() {
        if (version > register.floor) version = register.send(() => text);
      },
    });
  }

  #toggleCapability(): Op | undefined {
    const chosen = this.#random.pick(this.#lane.capabilities);
    if (chosen === undefined || !chosen.register.isSettled) return undefined;
    const { gid, capability, register } = chosen;
    const isGranted = register.newest === "yes";
    const call = isGranted ? "sys.capability.revoke" : "sys.capability.grant";
    return this.#toggle(call, { gid, capability }, register, isGranted ? "no" : "yes", { changed: true });
  }

  #lockUser(): Op | undefined {
    const user = this.#random.pick(this.#lane.users);
    if (user?.account == null || !user.locked.isSettled) return undefined;
    const locked = user.locked.newest !== "yes";
    return this.#toggle("sys.user.lock", { username: user.username, locked }, user.locked, locked ? "yes" : "no", { ok: true });
  }

  /** Changes a yes/no value with one write in flight at a time, or the interval would say nothing. */
  #toggle(call: Op["call"], args: Op["args"], register: Register, to: string, expected: unknown): Op {
    let version = register.send(() => to);
    return this.#op(call, args, this.#random.chance(0.4), {
      acked: (data) => {
        if (JSON.stringify(data) !== JSON.stringify(expected))
          this.#lane.model.oracle.violate("doubled", `${call} for ${register.name}: ${JSON.stringify(data)}`);
        register.ack(version);
      },
      again() {
        if (version > register.floor) version = register.send(() => to);
      },
    });
  }

  #op(call: Op["call"], args: Op["args"], isKeyed: boolean, means: Partial<Op> & Pick<Op, "acked">): Op {
    const key = isKeyed ? `k${this.#lane.model.stamp()}` : undefined;
    return { call, args, key, lane: this.#lane.index, answer: null, undone() {}, again() {}, ...means };
  }
}

function valueIn(data: unknown): string | null {
  return (data as Calls["sys.config.get"]["result"]).entries[0]?.value ?? null;
}

function stampIn(value: string | null): number {
  return value === null ? 0 : Number(value.split("|", 1)[0]);
}
