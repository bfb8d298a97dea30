// Holds however busy the machine is: a user who asks for little is answered before most of what another user asked for earlier,
// and the gateway waits for a peer that does not read.

import { RawSocket } from "../../support/raw-socket.ts";
import type { Bar } from "../bar.ts";
import type { Target } from "./attacks.ts";

let socketCount = 0;

const ROUNDS = 3;
const MANY = 10_000;
/** Far more unread answers than a socket may have. */
const LARGE = 120;

export async function order(bar: Bar, others: Target, greedy: Target): Promise<void> {
  const patient = await enter(others);
  for (let round = 0; round < ROUNDS; round++) {
    const socket = await enter(greedy);
    const key = `users/${String(await uidOf(socket))}/ai/model`;
    socket.together(() => {
      for (let at = 0; at < MANY; at++)
        socket.sendFrame({ type: "req", id: `${at}`, call: "sys.config.set", args: { key, value: `${at}` } });
    });
    await patient.call("sys.config.get", { key: "config/server/name" });
    const before = socket.waitingFrames;
    bar.check("answered in between", before < MANY / 2, () => `${before} of ${MANY} calls of somebody else were answered first`);
    socket.terminate();
  }
  patient.close();
  await checkUnread(bar, greedy);
}

async function checkUnread(bar: Bar, greedy: Target): Promise<void> {
  const socket = await enter(greedy);
  await socket.call("fs.write", { path: "~/large.txt", content: "x".repeat(3 * 1024 * 1024) });
  socket.pause();
  for (let at = 0; at < LARGE; at++) socket.sendFrame({ type: "req", id: `${at}`, call: "fs.read", args: { path: "~/large.txt" } });
  // A request on another connection does not wait. If the gateway ignored who reads, it would come after all the others.
  const another = await enter(greedy);
  const { ok } = await another.call("fs.read", { path: "~" });
  bar.check("served beside it", ok === true, () => "another connection of the same user was not served");
  another.close();
  socket.resume();
  let answered = 0;
  const ended = socket.closed.then(() => null);
  while (answered < LARGE && (await Promise.race([socket.frame(), ended])) !== null) answered++;
  bar.check("not cut off", answered === LARGE, () => `who read late got ${answered} of ${LARGE} answers`);
  socket.close();
}

async function enter({ url, username, token }: Target): Promise<RawSocket> {
  const socket = await RawSocket.open(url);
  await socket.connect({ username, token }, { id: `order-${++socketCount}` });
  return socket;
}

async function uidOf(socket: RawSocket): Promise<unknown> {
  const { data } = await socket.call("proc.list", {});
  return (data as { processes: { uid: number }[] }).processes[0]!.uid;
}
