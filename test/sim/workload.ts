// What clients request, at random: every call of the kernel, with and without keys, about their own things and other users'.

import type { Random } from "../support/memory/random.ts";
import type { Book, Person } from "./client.ts";
import type { Data } from "./requests.ts";

export type Ask = { call: string; args: Data; key?: string };

const CAPABILITIES = ["sys.info", "sys.config.get", "sys.token.list", "sys.user.list", "sys.config.*", "sys.group.list"];

export function nextAsk(random: Random, book: Book, person: Person): Ask {
  const isRoot = person.username === "root";
  if (isRoot && !book.uids.has("bob") && random.chance(0.5))
    return { call: "sys.user.create", args: { username: "bob", password: "bob first" }, key: "make bob" };
  const makers = isRoot && random.chance(0.6) ? ROOT_ASKS : ASKS;
  const ask = random.pick(makers)(random, book, person);
  if (ask.call.startsWith("proc.")) return ask;
  if (!random.chance(0.4)) return ask;
  // Sometimes a key is reused for another request.
  const key = random.chance(0.03) ? `${person.username} odd` : `${person.clientId} ${++book.count}`;
  return { ...ask, key };
}

/** A call on a device, with a unique token by which it is recognized wherever it appears. */
function onDevice(random: Random, book: Book, { username }: Person): Ask {
  const call = random.pick(["fs.read", "fs.write", "fs.write", "shell.exec", "shell.exec"]);
  const target = random.chance(0.8) ? `${username}-laptop` : random.pick(["alice-laptop", "bob-laptop", "nobodys-laptop"]);
  const token = String(++book.count);
  if (call === "shell.exec") return { call, args: { target, input: token } };
  return { call, args: { target, path: token, ...(call === "fs.write" ? { content: "" } : {}) } };
}

/** Messages that the demo model understands, and some that it does not. */
function speak(random: Random, book: Book): Ask {
  const message = random.pick(["list my files", "hello", "read ~/note.md", "write a note that says hi"]);
  return { call: "proc.send", args: { message, runId: `run-${++book.count}` } };
}

type Maker = (random: Random, book: Book, person: Person) => Ask;

const ASKS: Maker[] = [
  setConfig,
  setConfig,
  setConfig,
  getConfig,
  getConfig,
  createToken,
  createToken,
  revokeToken,
  writeFile,
  writeFile,
  (random, _book, person) => ({ call: "fs.read", args: { path: someFile(random, person) } }),
  (random, _book, person) => ({ call: random.pick(["fs.delete", "fs.read"]), args: { path: someFile(random, person) } }),
  ...Array.from({ length: 10 }, () => onDevice),
  ...Array.from({ length: 3 }, () => speak),
  (random) => ({ call: random.pick(["proc.history", "proc.list", "proc.abort", "proc.conversation.list"]), args: {} }),
  (random, book) => ({ call: "sys.token.list", args: someUid(random, book) }),
  (random, book) => ({ call: "sys.connection.list", args: someUid(random, book) }),
  () => ({ call: "sys.info", args: {} }),
  (random) => ({ call: random.pick(["sys.nope", "sys.user.list", "sys.capability.list", "sys.group.list", "sys.connect"]), args: {} }),
  (random, book, person) => changePassword(random, book, person),
];

const ROOT_ASKS: Maker[] = [
  (random) => ({ call: "sys.user.lock", args: { username: random.pick(["bob", "bob", "alice"]), locked: random.chance(0.4) } }),
  (random) => ({ call: "sys.user.lock", args: { username: random.pick(["bob", "alice"]), locked: false } }),
  (random, book) => {
    const username = random.pick(["alice", "bob", "root"]);
    return {
      call: "sys.user.password",
      args: { username, password: `${username} by root ${++book.count}`, revokeTokens: random.chance(0.2) },
    };
  },
  (_random, book) => ({ call: "sys.user.create", args: { username: `user${++book.count}`, password: `password ${book.count}` } }),
  (_random, book) => ({ call: "sys.group.create", args: { name: `group${++book.count}` } }),
  (random, book) => ({
    call: "sys.group.members",
    args: { gid: someGid(random, book), members: random.shuffled(["alice", "bob"]).slice(random.between(0, 2)) },
  }),
  (random, book) => ({
    call: random.pick(["sys.capability.grant", "sys.capability.grant", "sys.capability.revoke"]),
    args: { gid: random.chance(0.3) ? 100 : someGid(random, book), capability: random.pick(CAPABILITIES) },
  }),
  revokeToken,
];

function setConfig(random: Random, book: Book, { username }: Person): Ask {
  const uid = random.chance(0.1) ? 1000 : (book.uids.get(username) ?? 0);
  const name = random.pick(["a", "b", "c", "api_key"]);
  const key = username === "root" && random.chance(0.5) ? `config/sim/${name}` : `users/${uid}/ai/${name}`;
  return { call: "sys.config.set", args: { key, value: `v${++book.count}` } };
}

function getConfig(random: Random, book: Book, { username }: Person): Ask {
  const uid = book.uids.get(username) ?? 0;
  const keys = [
    `users/${uid}/ai/a`,
    `users/${uid}/ai`,
    `users/${uid}`,
    "users",
    "config",
    "config/sim/a",
    "config/ai/api_key",
    "users/1000/ai/api_key",
  ];
  return { call: "sys.config.get", args: random.chance(0.2) ? {} : { key: random.pick(keys) } };
}

function createToken(random: Random, book: Book, { username }: Person): Ask {
  const kind = random.pick(["user", "user", "node", "service"]);
  const lifetime = random.pick([{}, {}, { expiresAt: null }, { expiresAt: 1_763_200_000_000 + random.between(10_000, 400_000) }]);
  const device = kind === "node" && random.chance(0.7) ? { allowedDeviceId: `${username}-laptop` } : {};
  return { call: "sys.token.create", args: { kind, label: `t${++book.count}`, ...device, ...lifetime } };
}

function revokeToken(random: Random, book: Book): Ask {
  const tokenId = book.tokens.length === 0 || random.chance(0.05) ? "no-such-token" : random.pick(book.tokens).tokenId;
  return { call: "sys.token.revoke", args: { tokenId } };
}

function changePassword(random: Random, book: Book, { username }: Person): Ask {
  const current = random.chance(0.1) ? "a wrong guess" : (book.passwords.get(username)?.at(-1) ?? "");
  return { call: "sys.user.password", args: { current, password: `${username} own ${++book.count}`, revokeTokens: random.chance(0.1) } };
}

/** Mostly to the person's own files. Every content is unique, and sometimes too large for a row. */
function writeFile(random: Random, book: Book, person: Person): Ask {
  const content = `content ${++book.count}`;
  return {
    call: "fs.write",
    args: { path: someFile(random, person), content: random.chance(0.1) ? content.padEnd(70_000, ".") : content },
  };
}

function someFile(random: Random, { username }: Person): string {
  const whose = random.chance(0.8) && username !== "root" ? username : random.pick(["alice", "bob"]);
  return `/home/${whose}/${random.pick(["a", "b", "below/c"])}`;
}

function someUid(random: Random, book: Book): Data {
  return random.chance(0.6) ? {} : { uid: random.pick([0, 1000, 1001, 4242, ...book.uids.values()]) };
}

function someGid(random: Random, book: Book): number {
  return book.gids.length === 0 ? 4242 : random.pick(book.gids.slice(-3));
}
