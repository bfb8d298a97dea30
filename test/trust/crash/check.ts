// Checks a gateway through its public calls after a restart: lists everything and judges it, tries tokens and passwords that must
// and must not work, and repeats requests that were cut. Throws ConnectionLost if the gateway dies meanwhile; the next check
// covers the rest.

import { CallError, type Connection } from "../../../src/client/client.ts";
import { judgeDocuments } from "./shelf.ts";
import { judge } from "./judge.ts";
import { enter } from "./lane.ts";
import type { Model, Op, Token } from "./model.ts";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

const ANSWER = { timeoutMs: 30_000 };
const TOKENS_TRIED = 5;
const REPEATS_MAX = 25;

let addressCount = 0;

/** `root` is a connection of root. Opens the lanes. */
export async function check(url: string, root: Connection, world: World, random: Random): Promise<void> {
  const { model, lanes } = world;
  const [config, tokens, users, groups, capabilities] = await Promise.all([
    root.call("sys.config.get", {}, ANSWER),
    root.call("sys.token.list", {}, ANSWER),
    root.call("sys.user.list", {}, ANSWER),
    root.call("sys.group.list", {}, ANSWER),
    root.call("sys.capability.list", {}, ANSWER),
  ]);
  judge(model, { config: config.entries, ...tokens, ...users, ...groups, ...capabilities });
  await Promise.all(lanes.map((lane) => lane.open(url)));
  await judgeDocuments(world, random);
  await Promise.all(lanes.map((lane) => lane.commits.judge(lane, model.oracle)));
  await Promise.all(lanes.map((lane) => lane.calendar.judge()));
  await world.pusher.judge(url, model.oracle);
  await tryCapability(world);
  await tryTokens(url, model, random);
  await tryPassword(url, model);
  await repeat(world, random);
}

/** Grants and revocations of a group must take effect for its members. */
async function tryCapability({ lanes, model }: World): Promise<void> {
  for (const lane of lanes.filter(({ person }) => person.uid !== 0)) {
    const may = model.mayCall(lane.person.username, "sys.info");
    const code = await codeOf(lane.line!.call("sys.info", {}, ANSWER));
    if (may && code !== 200) model.oracle.violate("lost", `${lane.person.username} may call sys.info and gets ${code}`);
    if (!may && code !== 403) model.oracle.violate("revived", `${lane.person.username} may not call sys.info and gets ${code}`);
  }
}

async function tryTokens(url: string, model: Model, random: Random): Promise<void> {
  const names = new Map([...model.users.values()].map((user) => [user.account?.uid, user]));
  const known = [...model.tokens.values()].filter(({ issued }) => issued?.kind === "user" && names.has(issued.uid));
  const isDead = (token: Token) => token.revoked.newest === "yes" || names.get(token.issued!.uid)!.locked.newest === "yes";
  // The newest are those that the last crash could have affected.
  const dead = known.filter(isDead);
  const live = known.filter((token) => !isDead(token));
  const tried = [dead, live].flatMap((some) => [
    ...some.slice(-TOKENS_TRIED),
    ...random.sample(some.slice(0, -TOKENS_TRIED), TOKENS_TRIED),
  ]);
  await Promise.all(
    tried.map(async ({ issued, label, revoked }) => {
      const user = names.get(issued!.uid)!;
      const person = { username: user.username, token: issued!.token };
      const code = await codeOf(enter(url, person, { id: `try-${label}` }, newAddress()).then(({ line }) => line.close()));
      const why = `token ${label} of ${user.username} (revoked ${revoked.newest}, locked ${user.locked.newest})`;
      if (dead.some((token) => token.label === label)) {
        if (code !== 401) model.oracle.violate("revived", `${why} must not work: ${code}`);
      } else if (code !== 200) model.oracle.violate("lost", `${why} must work: ${code}`);
    }),
  );
}

/** Tries the password of a new user once: hashing is slow. */
async function tryPassword(url: string, model: Model): Promise<void> {
  const user = [...model.users.values()].find((candidate) => candidate.account !== null && !candidate.triedPassword);
  if (user === undefined) return;
  const { username, password } = user;
  const code = await codeOf(enter(url, { username, password }, { id: "password" }, newAddress()).then(({ line }) => line.close()));
  const isLocked = user.locked.newest === "yes";
  if (isLocked && code !== 401) model.oracle.violate("revived", `${username} is locked and gets ${code} for a password`);
  if (!isLocked && code !== 200) model.oracle.violate("lost", `${username}'s password must work: ${code}`);
  user.triedPassword = true;
}

/** Repeats requests: those that were cut get their first answer or run now; those answered before change nothing. */
async function repeat({ model, lanes }: World, random: Random): Promise<void> {
  const cut = [...model.unsure];
  const answered = random.sample(model.answered, REPEATS_MAX).filter((op) => !model.unsure.has(op));
  const ops = [...cut, ...answered];
  for (const op of cut) op.again();
  await Promise.all(ops.map((op) => lanes[op.lane]!.send(op)));
  if (model.unsure.size > 0) return;
  await Promise.all(keysOf(ops).map(([lane, key]) => readBack(model, lanes[lane]!.line!, key)));
}

function keysOf(ops: readonly Op[]): [number, string][] {
  const keys = new Map(ops.filter(({ call }) => call === "sys.config.set").map(({ args, lane }) => [String(args.key), lane]));
  return [...keys].map(([key, lane]) => [lane, key]);
}

async function readBack(model: Model, line: Connection, key: string): Promise<void> {
  const value = (await line.call("sys.config.get", { key }, ANSWER)).entries[0]?.value ?? null;
  const register = model.register(key);
  const expected = register.expected();
  if (!register.settle(value)) model.oracle.violate("doubled", `config ${key}: after a repeat ${expected} became ${value?.slice(0, 60)}`);
}

async function codeOf(call: Promise<unknown>): Promise<number> {
  try {
    await call;
    return 200;
  } catch (error) {
    if (error instanceof CallError) return error.code;
    throw error;
  }
}

/** A new address for each login, so that the login throttle does not affect the tests. */
function newAddress(): string {
  addressCount++;
  return `127.${1 + ((addressCount >> 16) & 127)}.${(addressCount >> 8) & 255}.${1 + (addressCount & 127)}`;
}
