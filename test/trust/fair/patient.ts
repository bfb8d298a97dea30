// The other user: sends small requests one after the other and measures how long each takes.

import type { Connection } from "../../../src/client/client.ts";
import { setTimeout as sleep } from "node:timers/promises";

export type Times = Record<"sys.config.get" | "fs.read" | "text turn", number[]>;

/** Short enough to sample every moment of an attack. */
const PAUSE_MS = 3;
/** People pause between messages. */
const TURN_PAUSE_MS = 30;

export async function ask(lines: { calls: Connection; turns: Connection; pid: string }, ms: number): Promise<Times> {
  const times: Times = { "sys.config.get": [], "fs.read": [], "text turn": [] };
  const until = performance.now() + ms;
  const measure = async (kind: keyof Times, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    times[kind].push(performance.now() - startedAt);
    await sleep(kind === "text turn" ? TURN_PAUSE_MS : PAUSE_MS);
  };
  const repeatCalls = async () => {
    while (performance.now() < until) {
      await measure("sys.config.get", () => lines.calls.call("sys.config.get", { key: "config/server/name" }));
      await measure("fs.read", () => lines.calls.call("fs.read", { path: "~/small.txt" }));
    }
  };
  const repeatTurns = async () => {
    while (performance.now() < until) await measure("text turn", () => turn(lines.turns, lines.pid));
  };
  await Promise.all([repeatCalls(), repeatTurns()]);
  return times;
}

async function turn(connection: Connection, pid: string): Promise<void> {
  const runEnd = new Promise<void>((resolve, reject) => {
    connection.onSignal = ({ signal, payload }) => {
      if (signal !== "proc.run.finished") return;
      const { status, error } = payload as { status: string; error?: string };
      if (status === "ok") resolve();
      else reject(new Error(`A run ended as ${status}: ${error}`));
    };
  });
  await connection.call("proc.send", { pid, message: "hello" });
  await runEnd;
}

export function quantile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
