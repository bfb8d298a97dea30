// gsv jobs: lists the user's running commands on all targets, and ended ones whose result nobody has read yet.

import type { Calls, Client } from "../../client/client.ts";
import { attach } from "../shell/attach.ts";
import { RunningCommand } from "../shell/exec.ts";
import { formatRelativeTime } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import { Screen } from "../terminal/screen.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printSentences, printJson, printTable } from "../terminal/terminal.ts";

type Flags = Globals & { target?: string };
type Job = Calls["shell.list"]["result"]["sessions"][number] & { target: string };
type Signal = NonNullable<Calls["shell.exec"]["args"]["signal"]>;

const GATEWAY = "gsv";

export async function jobsList(flags: Flags): Promise<void> {
  const found = await withClient(flags, (client) => fetchJobs(client, flags.target));
  if (flags.json) return printJson({ jobs: found });
  printTable(
    ["JOB", "TARGET", "STATE", "STARTED", "COMMAND"],
    found.map((job) => [
      job.sessionId,
      job.target,
      job.state === "running" ? "running" : `ended (${job.exitCode ?? "-"})`,
      formatRelativeTime(job.startedAt, "-"),
      job.command,
    ]),
  );
}

export async function jobsKill(flags: Flags & { signal?: string }, [id = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { sessionId, target, tty } = await requireJob(client, flags.target, id);
    // An interactive shell ignores TERM.
    const signal = (flags.signal?.toUpperCase().replace(/^SIG/, "") ?? (tty ? "HUP" : "TERM")) as Signal;
    const result = await client.call("shell.exec", { sessionId, input: "", signal, until: "sent", ...targetArgs(target) });
    if (result.status === "failed") throw new Problem(result.error);
    if (flags.json) return printJson({ sessionId, signal });
    printSentences(`Sent SIG${signal} to ${sessionId} on ${target}.`);
  });
}

export async function jobsAttach(flags: Flags, [id = ""]: readonly string[]): Promise<number> {
  return withClient(flags, async (client) => {
    const { sessionId, tty, target } = await requireJob(client, flags.target, id);
    if (tty) {
      const outcome = await attach(client, { sessionId });
      if ("error" in outcome) throw new Problem(outcome.error);
      return outcome.exitCode;
    }
    return showOutput(client, { sessionId, ...targetArgs(target) });
  });
}

/** Ctrl-C leaves the command running, because it was not started here. */
async function showOutput(client: Client, command: { sessionId: string; target?: string }): Promise<number> {
  client.keepConnected();
  const screens = { stdout: new Screen(process.stdout), stderr: new Screen(process.stderr) };
  const running = new RunningCommand(client, command, (stream, text) => screens[stream].write(text));
  running.onRemark = (remark) => printNote(`gsv: ${remark}`);
  const interrupt = new Promise<null>((resolve) => process.once("SIGINT", () => resolve(null)));
  const result = await Promise.race([running.done, interrupt]);
  Object.values(screens).forEach((screen) => screen.end());
  if (result === null) {
    printNote(`gsv: it is still running; to end it: gsv jobs kill ${command.sessionId}`);
    return 0;
  }
  if (running.isTruncated) printNote("gsv: part of its earlier output is missing");
  if (result.error !== undefined) printNote(`gsv: ${result.error}`);
  return result.exitCode ?? 1;
}

/** By a unique prefix of the id. */
async function requireJob(client: Client, target: string | undefined, id: string): Promise<Job> {
  const found = (await fetchJobs(client, target)).filter(({ sessionId }) =>
    [sessionId, sessionId.replace(/^sh_/, "")].some((one) => one.startsWith(id)),
  );
  if (found.length === 0) throw new Problem(`You have no job ${id}: gsv jobs lists your jobs`);
  if (found.length > 1) throw new Problem(`Several ids match: ${found.map(({ sessionId }) => sessionId).join(", ")}`);
  return found[0]!;
}

async function fetchJobs(client: Client, target: string | undefined): Promise<Job[]> {
  if (target !== undefined) return fetchJobsOn(client, target);
  const { devices } = await client.call("sys.device.list", {});
  const targets = [GATEWAY, ...devices.map(({ deviceId }) => deviceId)];
  const answers = await Promise.allSettled(targets.map((one) => fetchJobsOn(client, one)));
  answers.forEach((answer, at) => {
    if (answer.status === "rejected") printNote(`gsv: cannot list jobs on ${targets[at]}: ${(answer.reason as Error).message}`);
  });
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
}

async function fetchJobsOn(client: Client, target: string): Promise<Job[]> {
  const { sessions } = await client.call("shell.list", { target });
  return sessions.map((session) => ({ ...session, target }));
}

function targetArgs(target: string): { target?: string } {
  return target === GATEWAY ? {} : { target };
}
