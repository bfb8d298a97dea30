// just-bash never yields to the event loop, but Durable Objects may share a thread with others. So each round of a loop first
// calls this command, which yields every few rounds.

import { type Command, defineCommand } from "just-bash/browser";
import { yieldToEventLoop } from "../lib/yield.ts";
import { type Plugin, makeSimpleCommand, type Statement, makeStatement } from "./syntax.ts";

export const YIELD = "gsv-yield";
/** A count and not a time, because on Cloudflare the clock stands still while code computes. */
const ROUNDS_PER_YIELD = 50;
const LOOPS = new Set(["While", "Until", "For", "CStyleFor"]);

export function makeYieldCommand(): Command {
  let rounds = 0;
  return defineCommand(YIELD, async (_args, { env }) => {
    if (++rounds % ROUNDS_PER_YIELD === 0) await yieldToEventLoop();
    // Keeps $?, so that the script does not notice this command.
    return { stdout: "", stderr: "", exitCode: Number(env.get("?") ?? 0) };
  });
}

export const yieldPlugin: Plugin = {
  name: YIELD,
  transform: ({ ast }) => {
    addYields(ast);
    return { ast };
  },
};

function addYields(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  for (const child of Object.values(node)) addYields(child);
  const loop = node as { type?: string; body?: Statement[]; condition?: unknown };
  if (!LOOPS.has(loop.type ?? "") || loop.body === undefined) return;
  // The command returns the old exit code, on which `set -e` must not act again. In a list with `&&` it does not.
  const { pipelines, ...rest } = makeStatement(makeSimpleCommand(YIELD));
  loop.body.unshift({ ...rest, pipelines: [...pipelines, ...makeStatement(makeSimpleCommand(":")).pipelines], operators: ["&&"] });
}
