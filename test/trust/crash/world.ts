// The users of a gateway under test and their lanes. Sets up a fresh gateway once; copies of its directory and its promises then
// make as many equal worlds as needed.

import { cpSync } from "node:fs";
import { connect, Connection } from "../../../src/client/client.ts";
import { Lane, type Person } from "./lane.ts";
import { type Account, type Issued, Model } from "./model.ts";
import type { Oracle } from "./oracle.ts";
import { Pusher } from "./pusher.ts";

export type Setup = { people: Person[]; accounts: Account[]; issued: Issued[]; capabilities: { gid: number; capability: string }[] };
export type World = { home: string; model: Model; lanes: Lane[]; root: Person; driver: Issued; pusher: Pusher };

export const FIRST = { username: "w0", password: "password of w0", rootPassword: "password of root" };

const OTHERS = ["w1", "w2", "w3"];
const LANES_EACH = 2;
const HOT_KEYS = 6;
const DRIVER_LABEL = "driver";

export async function setUp(url: string): Promise<void> {
  const connection = await Connection.open(url);
  try {
    await connection.call("sys.setup", FIRST, { timeoutMs: 30_000 });
  } finally {
    connection.close();
  }
}

/** Creates further users, and a token for each user. */
export async function populate(url: string): Promise<Setup> {
  const root = await connect({ url, auth: { username: "root", password: FIRST.rootPassword }, reconnect: false });
  try {
    await Promise.all(OTHERS.map((username) => root.call("sys.user.create", { username, password: `password of ${username}` })));
    const accounts = (await root.call("sys.user.list", {})).users;
    const issued: Issued[] = [];
    for (const { uid, username } of accounts)
      issued.push((await root.call("sys.token.create", { kind: "user", uid, label: `lane of ${username}`, expiresAt: null })).token);
    const people = accounts.map(({ username, uid }, at) => ({ username, uid, token: issued[at]!.token }));
    issued.push((await root.call("sys.token.create", { kind: "node", uid: people[1]!.uid, label: DRIVER_LABEL })).token);
    const { capabilities } = await root.call("sys.capability.list", {});
    return { people, accounts, issued, capabilities };
  } finally {
    root.close();
  }
}

export function worldOf(setup: Setup, home: string, oracle: Oracle): World {
  const model = new Model(oracle);
  for (const account of setup.accounts.filter(({ uid }) => uid !== 0))
    model.newUser(account.username, `password of ${account.username}`, false).account = account;
  for (const issued of setup.issued) model.tokenIssued(model.newToken(String(issued.label), false), issued);
  for (const { gid, capability } of setup.capabilities) model.capability(gid, capability).settle("yes");
  const root = setup.people[0]!;
  const lanes = setup.people
    .flatMap((person) => Array.from({ length: LANES_EACH }, () => person))
    .map((person, index) => laneOf(model, person, index));
  // Default capabilities are granted once; after they are revoked, they must not come back at the next start.
  for (const capability of ["sys.info", "sys.connection.list"])
    lanes[0]!.capabilities.push({ gid: 100, capability, register: model.capability(100, capability) });
  const pusher = new Pusher(
    lanes.find(({ person }) => person.uid !== 0)!,
    `${home}-git`,
  );
  return { home, model, lanes, root, pusher, driver: setup.issued.find(({ label }) => label === DRIVER_LABEL)! };
}

export function copyOf(from: string, to: string): string {
  cpSync(from, to, { recursive: true });
  return to;
}

function laneOf(model: Model, person: Person, index: number): Lane {
  const below = person.uid === 0 ? `config/crash/${index}` : `users/${person.uid}/ai/crash/${index}`;
  const open = Array.from({ length: HOT_KEYS - 1 }, (_, at) => model.register(`${below}/hot/${at}`));
  if (person.uid === 0) model.shared.push(...open);
  return new Lane(index, person, model, [...open, model.register(`${below}/hot/sealed_secret`)]);
}
