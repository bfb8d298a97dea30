// The other user: asks for little, one thing after the other, and notes how long each takes.

import type { Connection } from "../../../src/client/client.ts";
import { setTimeout as sleep } from "node:timers/promises";

export type Times = Record<"sys.config.get" | "fs.read" | "text turn", number[]>;

/** Long enough for several samples, short enough to meet every moment of an attack. */
const PAUSE_MS = 3;
/** Nobody talks without a pause. */
const TURN_PAUSE_MS = 30;

export async function ask(lines: { calls: Connection; turns: Connection; pid: string }, ms: number): Promise<Times> {
  const times: Times = { "sys.config.get": [], "fs.read": [], "text turn": [] };
  const until = performance.now() + ms;
  const timed = async (kind: keyof Times, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    times[kind].push(performance.now() - startedAt);
    await sleep(kind === "text turn" ? TURN_PAUSE_MS : PAUSE_MS);
  };
  const calls = async () => {
    while (performance.now() < until) {
      await timed("sys.config.get", () => lines.calls.call("sys.config.get", { key: "config/server/name" }));
      await timed("fs.read", () => lines.calls.call("fs.read", { path: "~/small.txt" }));
    }
  };
  const turns = async () => {
    while (performance.now() < until) await timed("text turn", () => turn(lines.turns, lines.pid));
  };
  await Promise.all([calls(), turns()]);
  return times;
}

async function turn(line: Connection, pid: string): Promise<void> {
  const over = new Promise<void>((resolve, reject) => {
    line.onSignal = ({ signal, payload }) => {
      if (signal !== "proc.run.finished") return;
      const { status, error } = payload as { status: string; error?: string };
      if (status === "ok") resolve();
      else reject(new Error(`A run ended as ${status}: ${error}`));
    };
  });
  await line.call("proc.send", { pid, message: "hello" });
  await over;
}

export function quantile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
