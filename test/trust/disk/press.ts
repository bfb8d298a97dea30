// A workload for a disk that is full or about to be: a mix of everything that writes, shell commands included. Each answer is a
// success that must hold, or 507 with nothing kept, which a command reports as "No space left on device".

import { CallError } from "../../../src/client/client.ts";
import { check } from "../crash/check.ts";
import { type Document, editionText, contentOf, newDocument, newFolder } from "../crash/documents.ts";
import { enter, type Lane, type Outcome } from "../crash/lane.ts";
import type { Oracle } from "../crash/oracle.ts";
import type { Random } from "../crash/random.ts";
import { judgeDocuments } from "../crash/shelf.ts";
import { Workload } from "../crash/workload.ts";
import type { World } from "../crash/world.ts";

export type Counts = Record<Outcome, number>;

const ANSWER = { timeoutMs: 60_000 };
const LARGE_BYTES = 100_000;
const POLL_MS = 50;
const RESUME_MS = 30_000;

export const noCounts = (): Counts => ({ ok: 0, cut: 0, full: 0, refused: 0 });

/** Each lane sends `atOnce` requests at a time, `rounds` times. */
export async function press(lanes: readonly Lane[], random: Random, rounds: number, atOnce: number): Promise<Counts> {
  const counts = noCounts();
  await Promise.all(
    lanes.map(async (lane) => {
      const draws = random.fork(lane.index);
      const load = new Workload(lane, draws, []);
      for (let round = 0; round < rounds; round++) {
        const sent = Array.from({ length: atOnce }, () => {
          const roll = draws.next();
          if (roll < 0.03) return shellWrite(lane);
          if (roll < 0.4) return lane.send(load.filing.next() ?? load.overwrite());
          if (roll < 0.55) return lane.send(load.commit(draws.chance(0.5)));
          return lane.send(roll < 0.65 ? load.createToken(draws.chance(0.5)) : load.overwrite());
        });
        for (const outcome of await Promise.all(sent)) counts[outcome]++;
      }
    }),
  );
  return counts;
}

/** Writes one of the lane's files by a command. */
export async function shellWrite(lane: Lane): Promise<Outcome> {
  const { model, line } = lane;
  const { oracle } = model;
  const document = shellDocument(lane);
  const stamp = model.stamp();
  const edition = { head: stamp, mark: stamp, bytes: 0 };
  const version = document.register.send(() => editionText(edition));
  document.isFresh = true;
  document.isBusy = true;
  // Not by a redirection, which would first leave an empty file, as on any machine.
  const folder = document.path.slice(0, document.path.lastIndexOf("/"));
  const input = `mkdir -p '${folder}' && echo '${contentOf(edition).trimEnd()}' | tee '${document.path}' > /dev/null`;
  try {
    let answer = await line!.call("shell.exec", { input }, ANSWER);
    let { output } = answer;
    while (answer.status === "running") {
      answer = await line!.call("shell.exec", { sessionId: answer.sessionId, input: "" }, ANSWER);
      output += answer.output;
    }
    if (answer.status === "completed" && answer.exitCode === 0) {
      document.register.ack(version);
      oracle.acks++;
      return "ok";
    }
    if (!output.includes("No space left on device")) {
      oracle.violate("wrong", `${input}: ${JSON.stringify(answer)}`);
      return "refused";
    }
    document.register.undo(version);
    return "full";
  } catch (error) {
    if (!(error instanceof CallError)) return "cut";
    // The number of a user's commands is limited.
    if (error.code === 429) document.register.undo(version);
    else oracle.violate("wrong", `shell.exec: ${error.code} ${error.message}`);
    return error.code === 429 ? "ok" : "refused";
  } finally {
    document.isBusy = false;
  }
}

function shellDocument(lane: Lane): Document {
  let folder = lane.folders.find(({ isInGit, isBusy }) => !isInGit && !isBusy);
  if (folder === undefined) {
    folder = newFolder(`${lane.home}/d${lane.model.stamp()}`, false);
    lane.folders.push(folder);
  }
  return newDocument(folder, `s${lane.model.stamp()}.txt`);
}

/** Reads still work: nothing of this writes. */
export async function reads(world: World, random: Random): Promise<number> {
  const { lanes, model } = world;
  const { oracle } = model;
  let read = 0;
  let what = "files";
  try {
    await judgeDocuments(world, random);
    for (const lane of lanes) {
      what = `the configuration of ${lane.person.username}`;
      await lane.line!.call("sys.config.get", { key: lane.hot[0]!.name }, ANSWER);
      await lane.line!.call("fs.read", { path: "/proc/version" }, ANSWER);
      what = lane.commits.repo;
      // A repository without its first commit may lack even its tables.
      if (lane.commits.hasAny) await lane.commits.judge(lane, oracle);
      read += 3 + lane.folders.length;
    }
  } catch (error) {
    oracle.violate("wrong", `reading ${what} on a full disk: ${error instanceof Error ? error.message : String(error)}`);
  }
  return read;
}

/** A small and a large write, one in git, and one by a command: how long until all of them are accepted again. */
export async function resumed(lane: Lane, random: Random, oracle: Oracle): Promise<number> {
  const startedAt = performance.now();
  const load = new Workload(lane, random, []);
  const ways = [
    () => lane.send(load.overwrite(false)),
    () => lane.send(load.filing.write(load.filing.document(), LARGE_BYTES)),
    () => lane.send(load.commit(false)),
    () => shellWrite(lane),
  ];
  for (const way of ways) {
    while ((await way()) !== "ok") {
      if (performance.now() - startedAt > RESUME_MS) {
        oracle.violate("wrong", `with space on the disk again, ${way.toString()} is still refused after ${RESUME_MS} ms`);
        return RESUME_MS;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
  return performance.now() - startedAt;
}

/** Checks everything, as after a crash. Opens the lanes again. */
export async function inspect(url: string, world: World, random: Random): Promise<void> {
  const { username, token } = world.root;
  for (const lane of world.lanes) lane.line?.close();
  const { line } = await enter(url, { username, token }, { id: "oracle" });
  await check(url, line, world, random);
  line.close();
}
