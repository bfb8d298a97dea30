// B06: revocation is final. Tokens are revoked, users locked and passwords changed under load: every socket of the credential
// closes, nothing it sends afterwards is executed, and a restart changes none of it. `--strict 1` fails if a socket takes more
// than a second to close, which says little on a machine with other load.

import { sleep } from "../../src/lib/sleep.ts";
import { startNodeHost } from "../support/node-host.ts";
import { enter, populate, ROOT } from "../support/people.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { Bar, numberFlag } from "./bar.ts";

const ROUNDS = numberFlag("rounds", 3);
const SOCKETS = 8;
const PATIENCE_MS = 60_000;
const WITHIN_MS = numberFlag("strict", 0) === 1 ? 1_000 : PATIENCE_MS;

const bar = new Bar("B06 trust:revoke");
const host = await startNodeHost();
await populate(host);
const { token: adminToken } = await (await enter(host, ROOT)).call("sys.token.create", { kind: "user" });
const admin = await enter(host, { username: "root", token: adminToken.token });
const revokedCredentials: { username: string; token?: string; password?: string }[] = [];
let slowestMs = 0;

for (let round = 0; round < ROUNDS; round++) {
  for (const how of ["revoke", "lock", "password"] as const) await revoke(how, `user${round}${how}`);
}
bar.numbers["slowest close, ms"] = Math.round(slowestMs);
await checkStillRevoked("before a restart");
await host.restart();
await checkStillRevoked("after a restart");
await host.close();
bar.end();

async function revoke(how: "revoke" | "lock" | "password", username: string): Promise<void> {
  const password = "long enough";
  const { user } = await admin.call("sys.user.create", { username, password });
  const { token } = await admin.call("sys.token.create", { kind: "user", uid: user.uid });
  const auth = how === "password" ? { username, password } : { username, token: token.token };
  // A password is hashed at each login, so fewer sockets log in with one.
  const sockets = await Promise.all(
    Array.from({ length: how === "password" ? 3 : SOCKETS }, async (_, at) => openWriter(auth, `${username}-${at}`, user.uid)),
  );

  let endedAt = Number.POSITIVE_INFINITY;
  const closings = sockets.map(async ({ socket, stop }) => {
    const { code } = await socket.closed;
    stop();
    const ms = performance.now() - endedAt;
    slowestMs = Math.max(slowestMs, ms);
    bar.check("sockets closed", code === 1008 && ms < WITHIN_MS, () => `${how}: closed with ${code} after ${ms.toFixed(0)} ms`);
  });
  if (how === "revoke") await admin.call("sys.token.revoke", { tokenId: token.tokenId });
  else if (how === "lock") await admin.call("sys.user.lock", { username, locked: true });
  else await admin.call("sys.user.password", { username, password: "another one" });
  endedAt = performance.now();
  const values = await storedConfig(user.uid);
  const over = new AbortController();
  await Promise.race([Promise.all(closings), sleep(PATIENCE_MS, over.signal)]);
  over.abort();
  // Ordered after everything that the sockets sent before they were closed.
  await admin.call("sys.config.set", { key: "config/after", value: username });
  // The sockets kept writing until they were closed: none of that may have been executed.
  bar.check("nothing later", values === (await storedConfig(user.uid)), () => `${how}: a write was carried out after the end`);
  revokedCredentials.push(how === "password" ? { username, password } : { username, token: token.token });
}

/** Opens a socket that keeps writing, each write with another value. */
async function openWriter(auth: Record<string, string>, id: string, uid: number): Promise<{ socket: RawSocket; stop: () => void }> {
  const socket = await RawSocket.open(host.url);
  const connected = await socket.connect(auth, { id });
  bar.check("logged in", connected.ok === true, () => JSON.stringify(connected));
  let count = 0;
  const timer = setInterval(() => {
    for (let at = 0; at < 5; at++)
      socket.sendFrame({
        type: "req",
        id: `w${count}`,
        call: "sys.config.set",
        args: { key: `users/${uid}/ai/${id}`, value: String(count++) },
      });
  }, 2);
  return { socket, stop: () => clearInterval(timer) };
}

async function storedConfig(uid: number): Promise<string> {
  return JSON.stringify((await admin.call("sys.config.get", { key: `users/${uid}` })).entries);
}

async function checkStillRevoked(when: string): Promise<void> {
  for (const auth of revokedCredentials) {
    const socket = await RawSocket.open(host.url);
    const answer = await socket.connect(auth);
    bar.check("still over", answer.error?.code === 401, () => `${when}: ${JSON.stringify(auth)} got ${JSON.stringify(answer)}`);
    socket.terminate();
  }
}
