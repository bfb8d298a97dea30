// Whether a page of a history and a turn get slower in longer conversations: processes with more and more messages, whose rows
// are inserted while the gateway is down.

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Finding } from "../report.ts";
import type { Stage } from "../stage.ts";

const COUNTS = [100, 1_000, 5_000, 10_000];
const PAGE = 50;
const WINDOW_TOKENS = 32_000;
const GOAL_MS = 2;
const GOAL = 1.5;

export async function history(stage: Stage): Promise<Finding[]> {
  const filled = await fill(stage);
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const floor = await stage.floor("bare", { "proc.history": {} });
  const findings: Finding[] = [];
  const first = { page: Number.NaN, turn: Number.NaN };
  for (const [count, pid] of filled) {
    const named = `${count.toLocaleString("en")} messages`;
    // Turns come first, so that the process has loaded the inserted rows.
    const [turn] = await stage.compare([gateway], (target) => ({
      do: "turns",
      target,
      pids: [pid],
      message: "hello",
      seconds: stage.options.seconds,
    }));
    if (Number.isNaN(first.turn)) first.turn = turn!.p50Ms!;
    findings.push({
      bench: `turn, ${named}, window of ${WINDOW_TOKENS} tokens`,
      gateway: turn!,
      floor: null,
      ratio: turn!.p50Ms! / first.turn,
      goal: "",
      pass: null,
    });
    const [page, bare] = await stage.compare([gateway, floor], (target) => ({
      do: "pipeline",
      target,
      call: "proc.history",
      args: [
        { pid, limit: PAGE },
        { pid, limit: PAGE, offset: count - PAGE },
      ],
      inFlight: 1,
      seconds: stage.options.seconds,
    }));
    if (Number.isNaN(first.page)) first.page = page!.p50Ms!;
    const grown = page!.p50Ms! / first.page;
    const goal = `p50 <= ${GOAL_MS} ms, <= ${GOAL}x that with 100`;
    findings.push({
      bench: `proc.history, page of ${PAGE}, ${named}`,
      gateway: page!,
      floor: bare!,
      ratio: grown,
      goal,
      pass: page!.p50Ms! <= GOAL_MS && grown <= GOAL,
    });
  }
  await Promise.all([gateway, floor, provider].map((server) => server.stop()));
  return findings;
}

/** A process for each count, whose messages are copies of one real exchange. */
async function fill(stage: Stage): Promise<[number, string][]> {
  const gateway = await stage.gateway();
  const provider = await stage.provider(gateway);
  const connection = await stage.line(gateway);
  await connection.call("sys.config.set", { key: `users/${stage.account.uid}/ai/context_window_tokens`, value: String(WINDOW_TOKENS) });
  const filled: [number, string][] = [];
  for (const count of COUNTS) {
    const { pid } = await connection.call("proc.spawn", { profile: "task", label: `${count} messages` });
    const load = stage.load();
    await load.run({
      do: "turns",
      target: stage.target(gateway),
      pids: [pid],
      message: "Tell me something in a sentence or two, please.",
      seconds: 0.2,
    });
    load.stop();
    filled.push([count, pid]);
  }
  connection.close();
  await Promise.all([gateway, provider].map((server) => server.stop()));
  for (const [count, pid] of filled) copyMessages(join(stage.home, "processes", `${pid}.db`), count);
  return filled;
}

function copyMessages(file: string, count: number): void {
  const database = new DatabaseSync(file);
  database.exec("BEGIN");
  const { next } = database.prepare("SELECT next FROM conversations WHERE id = 'default'").get() as { next: number };
  const copy = database.prepare(
    `INSERT INTO messages (conversation_id, place, run_id, role, content, created_at)
     SELECT conversation_id, ?, run_id, role, content, created_at FROM messages WHERE conversation_id = 'default' AND place = ?`,
  );
  const { first } = database.prepare("SELECT first FROM conversations WHERE id = 'default'").get() as { first: number };
  for (let place = next; place < first + count; place++) copy.run(place, first + ((place - first) % 2));
  database.prepare("UPDATE conversations SET next = max(next, ?) WHERE id = 'default'").run(first + count);
  database.exec("COMMIT");
  database.close();
}
