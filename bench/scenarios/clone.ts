// Stock git clones from the gateway and pushes to it, compared to the same with a bare repository by file://, where git talks to
// itself through a pipe. Wall time of the command that a person types.

import { join } from "node:path";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";
import { percentile } from "../stats.ts";
import { textOf } from "../text.ts";

const FILES = 300;
const FILE_BYTES = 2048;
const COMMITS = 51;
const TIMES = 2;

export async function clone(stage: Stage): Promise<Finding[]> {
  const gateway = await stage.gateway();
  const { username, token } = stage.account;
  const connection = await stage.line(gateway);
  const repo = `${username}/clone`;
  const put = (file: number, at: number) => ({ type: "put" as const, path: `d${file % 10}/f${file}.txt`, content: textOf(at, FILE_BYTES) });
  for (let at = 0; at < COMMITS; at++) {
    const ops = at === 0 ? Array.from({ length: FILES }, (_, file) => put(file, file)) : [put(at, at + FILES)];
    await connection.call("repo.apply", { repo, message: `change ${at}`, ops });
  }
  const url = (name: string) => `http://${username}:${token}@127.0.0.1:${gateway.port}/git/${username}/${name}.git`;
  const git = async (...args: string[]) => (await stage.children.command(["git", ...args], "load")).ms;
  const source = join(stage.children.folder(), "source");
  await git("clone", "-q", url("clone"), source);
  const bare = join(stage.children.folder(), "bare.git");
  await git("clone", "-q", "--bare", source, bare);
  const [cloned, pushed, fileCloned, filePushed]: number[][] = [[], [], [], []];
  for (let round = 0; round < stage.options.rounds * TIMES; round++) {
    cloned!.push(await git("clone", "-q", url("clone"), join(stage.children.folder(), "work")));
    fileCloned!.push(await git("clone", "-q", `file://${bare}`, join(stage.children.folder(), "work")));
    await connection.call("repo.create", { repo: `${username}/pushed-${round}`, ref: "other" });
    pushed!.push(await git("-C", source, "push", "-q", url(`pushed-${round}`), "HEAD:refs/heads/main"));
    const empty = join(stage.children.folder(), "empty.git");
    await git("init", "-q", "--bare", empty);
    filePushed!.push(await git("-C", source, "push", "-q", `file://${empty}`, "HEAD:refs/heads/main"));
  }
  connection.close();
  await gateway.stop();
  const finding = (bench: string, mine: number[], theirs: number[]): Finding => {
    const [p50Ms, floor] = [percentile(mine, 0.5), percentile(theirs, 0.5)];
    return { bench, gateway: { p50Ms }, floor: { p50Ms: floor }, ratio: p50Ms / floor, goal: "", pass: null };
  };
  return [
    finding(`git clone, ${FILES} files in ${COMMITS} commits, file://`, cloned!, fileCloned!),
    finding(`git push of the same, file://`, pushed!, filePushed!),
  ];
}
