// Sets up a gateway and logs in to it, for tests.

import { type Client, type ClientInfo, connect, Connection } from "../../src/client/client.ts";
import { makeHasher } from "../../src/hosts/shared/crypto.ts";
import type { Host } from "./host.ts";

export const ALICE = { username: "alice", password: "correct horse" };
export const BOB = { username: "bob", password: "battery staple" };
export const ROOT = { username: "root", password: "rosebud and sledge" };

/** Creates alice as the first user, root with its own password, and bob. */
export async function populate(host: Host): Promise<void> {
  const connection = await Connection.open(host.url);
  const code = host.setupCode === null ? {} : { code: host.setupCode };
  await connection.call("sys.setup", { ...ALICE, rootPassword: ROOT.password, ...code });
  connection.close();
  const root = await enter(host, ROOT);
  await root.call("sys.user.create", BOB);
  root.close();
}

export function enter(
  host: Host,
  auth: { username: string; password: string } | { username: string; token: string },
  client: ClientInfo = {},
): Promise<Client> {
  return connect({ url: host.url, auth, client, reconnect: false, newHash: makeHasher });
}
