// Where commands share their thread with others (objects on Cloudflare may), a loop has to give way: just-bash never
// does by itself. Each round of a loop calls this command first, and every so often it lets everybody else have a turn.

import { type Command, defineCommand } from "just-bash/browser";
import { yieldToEventLoop } from "../lib/yield.ts";
import { type Plugin, simple, type Statement, statement } from "./syntax.ts";

export const YIELD = "gsv-yield";
/** Counted and not timed: there, clocks stand still while code computes. */
const ROUNDS = 50;
const LOOPS = new Set(["While", "Until", "For", "CStyleFor"]);

export function yieldCommand(): Command {
  let rounds = 0;
  return defineCommand(YIELD, async (_args, { env }) => {
    if (++rounds % ROUNDS === 0) await yieldToEventLoop();
    // The script must not notice: what it reads as $? is still the command before.
    return { stdout: "", stderr: "", exitCode: Number(env.get("?") ?? 0) };
  });
}

export const yielding: Plugin = {
  name: YIELD,
  transform: ({ ast }) => {
    visit(ast);
    return { ast };
  },
};

function visit(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  for (const child of Object.values(node)) visit(child);
  const loop = node as { type?: string; body?: Statement[]; condition?: unknown };
  if (!LOOPS.has(loop.type ?? "") || loop.body === undefined) return;
  // What it gives back is an old code, which `set -e` must not take for a new one: hence the list.
  const { pipelines, ...rest } = statement(simple(YIELD));
  loop.body.unshift({ ...rest, pipelines: [...pipelines, ...statement(simple(":")).pipelines], operators: ["&&"] });
}
