// One simulated client: connects, authenticates, makes requests, loses patience, reconnects. It knows only what a real client
// would know, through the book that it shares with the other clients.

import type { Random } from "../support/memory/random.ts";
import { type Order, SimDevice, type Wire } from "./device.ts";
import { type Data, text } from "./requests.ts";
import type { World } from "./world.ts";
import { type Ask, nextAsk } from "./workload.ts";

export type IssuedToken = { value: string; tokenId: string; username: string; kind: string; deviceId: string | null };

/** What all clients together know. */
export type Book = {
  passwords: Map<string, string[]>;
  tokens: IssuedToken[];
  uids: Map<string, number>;
  gids: number[];
  orders: { of: SimDevice; id: string }[];
  count: number;
};

export type Person = { username: string; role: "user" | "driver" | "service"; clientId: string; address: string };

type Waiting = Ask & { id: string };

export class SimClient {
  readonly person: Person;
  readonly #world: World;
  readonly #random: Random;
  readonly #book: Book;
  #socketId: string | null = null;
  #isReady = false;
  #count = 0;
  readonly #device: SimDevice;
  readonly #waiting = new Map<string, Waiting>();
  /** Keyed requests whose answer was lost, to be retried. */
  #repeats: Ask[] = [];

  constructor(world: World, random: Random, book: Book, person: Person) {
    this.#world = world;
    this.#random = random;
    this.#book = book;
    this.person = person;
    this.#device = new SimDevice(random, (token) => world.judge.did(token));
  }

  act(): void {
    if (this.#socketId === null) return this.#open();
    if (!this.#isReady) return this.#authenticate();
    const dice = this.#random.unit();
    if (dice < 0.02) return this.#hangUp();
    if (dice < 0.05) return this.#open();
    if (dice < 0.12) return this.#sendNonsense();
    if (this.person.role === "driver" && this.#random.chance(0.5)) return this.#lie();
    if (this.person.role !== "user") return this.#send({ call: "sys.info", args: {} });
    const burst = this.#random.chance(0.15) ? this.#random.between(2, 6) : 1;
    for (let i = 0; i < burst; i++) this.#send(this.#repeats.shift() ?? nextAsk(this.#random, this.#book, this.person));
  }

  #open(): void {
    const isOlder = () => this.#socketId !== socketId;
    const socketId = this.#world.open(this.person.address, {
      text: (raw) => {
        if (!isOlder()) this.#receive(raw);
      },
      closed: () => {
        if (!isOlder()) this.#forgetConnection();
      },
    });
    if (socketId === null) return;
    this.#forgetConnection();
    this.#socketId = socketId;
  }

  #authenticate(): void {
    const dice = this.#random.unit();
    if (dice < 0.05) return this.#sendNonsense();
    if (dice < 0.08) return this.#send({ call: "sys.config.get", args: {} });
    if (dice < 0.1) return; // Waits too long and is disconnected.
    const { username, role, clientId } = this.person;
    if (username === "alice" && (!this.#book.passwords.has("root") || dice < 0.13)) {
      this.#book.passwords.set("alice", ["alice first"]).set("root", ["root first"]);
      return this.#send({ call: "sys.setup", args: { username: "alice", password: "alice first", rootPassword: "root first" } });
    }
    const auth = this.#credential();
    if (auth === null) return;
    const client = { id: clientId, version: "1", platform: "sim", role, ...(role === "service" ? { channel: "sim" } : {}) };
    const driver = role === "driver" ? { driver: { implements: ["fs.*", "shell.exec"], ledger: true } } : {};
    const ask = { call: "sys.connect", args: { protocol: 1, client, ...driver, auth: { username, ...auth } } };
    this.#send(ask);
    if (dice > 0.95) this.#send(ask);
  }

  #credential(): { password: string } | { token: string } | null {
    const { username, role, clientId } = this.person;
    const kind = { user: "user", driver: "node", service: "service" }[role];
    const fitting = this.#book.tokens.filter(
      (token) => token.username === username && token.kind === kind && (token.deviceId === null || token.deviceId === clientId),
    );
    if (fitting.length > 0 && (role !== "user" || this.#random.chance(0.4))) return { token: this.#random.pick(fitting.slice(-4)).value };
    const known = this.#book.passwords.get(username);
    if (role !== "user" || known === undefined) return null;
    return { password: this.#random.chance(0.03) ? "a wrong guess" : this.#random.pick(known.slice(-2)) };
  }

  #send(ask: Ask): void {
    if (this.#socketId === null) return;
    const id = this.#random.chance(0.01) && ask.args.target === undefined ? "again" : `${this.person.clientId}-${++this.#count}`;
    // With a reused id, it is unknown which request an answer belongs to.
    if (id !== "again") this.#waiting.set(id, { ...ask, id });
    const { username } = this.person;
    if (ask.call === "sys.user.password") this.#addPassword(text(ask.args.username ?? username), text(ask.args.password));
    if (ask.call === "sys.user.create") this.#addPassword(text(ask.args.username), text(ask.args.password));
    this.#world.sockets.fromPeer(this.#socketId, JSON.stringify({ type: "req", id, ...ask }));
  }

  #sendNonsense(): void {
    if (this.#socketId === null) return;
    const { sockets } = this.#world;
    const id = `x${++this.#count}`;
    const frames = [
      "ping",
      "",
      "\u0000",
      "{",
      "[]",
      "null",
      '"ping"',
      '{"type":"req"}',
      `{"type":"req","id":"${id}"}`,
      `{"type":"req","id":"${id}","call":"sys.nope"}`,
      `{"type":"req","id":"${id}","call":"sys.info"}`,
      `{"type":"req","id":"${id}","call":"sys.info","args":[]}`,
      `{"type":"req","id":"${id}","call":"sys.config.set","args":{"key":"users/0/ai/x","value":{"a":1}}}`,
      `{"type":"req","id":"${id}","call":"sys.info","args":{"__proto__":{"isRoot":true}}}`,
      `{"type":"req","id":"${id}","call":"sys.info","args":{"text":"\\ud800"}}`,
      `{"type":"req","id":"${"i".repeat(129)}","call":"sys.info"}`,
      `{"type":"res","id":"${id}","ok":true}`,
      `{"type":"sig","signal":"device.status","payload":{}}`,
      "[".repeat(100),
      `{"type":"req","id":"${id}","call":"sys.info","args":{"pad":"${"a".repeat(70_000)}"}}`,
      new Uint8Array([1, 2, 3]),
    ];
    sockets.fromPeer(this.#socketId, this.#random.pick(frames));
  }

  #receive(raw: string): void {
    if (raw === "pong") return;
    const frame = JSON.parse(raw) as { type: string; id: string; ok: boolean; data: Data; error?: { code: number } };
    const wire = this.#wire();
    if (frame.type === "req" && wire !== null) return this.#device.asked(JSON.parse(raw) as Order, wire);
    if (frame.type !== "res") return;
    const waiting = this.#waiting.get(frame.id);
    if (waiting === undefined) return;
    this.#waiting.delete(frame.id);
    if (frame.ok) this.#learn(waiting, frame.data);
    else this.#unlearn(waiting, frame.error?.code ?? 0);
  }

  #lie(): void {
    const wire = this.#wire();
    const others = this.#book.orders.filter(({ of }) => of !== this.#device).slice(-3);
    if (wire !== null)
      this.#device.lie(
        wire,
        others.map(({ id }) => id),
      );
    this.#book.orders.push(...this.#device.recent.map((id) => ({ of: this.#device, id })));
  }

  #wire(): Wire | null {
    const socketId = this.#socketId;
    if (socketId === null) return null;
    const { sockets, agenda } = this.#world;
    return {
      socketId,
      send: (frame) => sockets.fromPeer(socketId, JSON.stringify(frame)),
      later: (ms, run) => void agenda.after(ms, `device ${this.person.clientId}`, run),
      hangUp: () => {
        sockets.closeFromPeer(socketId);
        if (this.#socketId === socketId) this.#forgetConnection();
      },
    };
  }

  /** A refused password was never set, and a refused credential is not retried forever. */
  #unlearn({ call, args }: Ask, code: number): void {
    if (call === "sys.user.password" || call === "sys.user.create") {
      const whose = text(args.username ?? this.person.username);
      const left = (this.#book.passwords.get(whose) ?? []).filter((password) => password !== args.password);
      if (left.length > 0) this.#book.passwords.set(whose, left);
    }
    const { token } = (args.auth ?? {}) as { token?: string };
    if (call === "sys.connect" && code === 401 && token !== undefined && this.#random.chance(0.5))
      this.#book.tokens = this.#book.tokens.filter(({ value }) => value !== token);
  }

  #learn({ call, args }: Ask, data: Data): void {
    const { username } = this.person;
    if (call === "sys.connect") this.#isReady = true;
    if (call === "sys.setup") this.#book.uids.set("root", 0).set("alice", 1000);
    if (call === "sys.user.create") this.#book.uids.set(text(args.username), (data.user as { uid: number }).uid);
    if (call === "sys.user.password") this.#book.passwords.set(text(args.username ?? username), [text(args.password)]);
    if (call === "sys.group.create") this.#book.gids.push((data.group as { gid: number }).gid);
    if (call === "sys.token.create") {
      const token = data.token as { token: string; tokenId: string; kind: string; allowedDeviceId: string | null; uid: number };
      const owner = [...this.#book.uids].find(([, uid]) => uid === token.uid)?.[0] ?? username;
      const issued = { value: token.token, tokenId: token.tokenId, username: owner, kind: token.kind, deviceId: token.allowedDeviceId };
      this.#book.tokens.push(issued);
    }
  }

  #addPassword(username: string, password: string): void {
    this.#book.passwords.set(username, [...(this.#book.passwords.get(username) ?? []), password]);
  }

  #hangUp(): void {
    if (this.#socketId !== null) this.#world.sockets.closeFromPeer(this.#socketId);
    this.#forgetConnection();
  }

  #forgetConnection(): void {
    this.#socketId = null;
    this.#isReady = false;
    for (const { call, args, key } of this.#waiting.values()) if (key !== undefined) this.#repeats.push({ call, args, key });
    this.#waiting.clear();
  }
}
