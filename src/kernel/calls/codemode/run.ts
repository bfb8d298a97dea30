// Runs a script of a person in the sandbox of one of their processes.

import { z } from "zod";
import { SOURCE_CHARS } from "../../../sandbox/limits.ts";
import { ScriptResult } from "../../../sandbox/calls/result.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "codemode.run",
  doc: "Run a script: JavaScript that calls files and the shell of any target. The code is the body of an async function: await works, and return gives the result. It runs in the sandbox of a process, by default your init, with that process's identity; target and cwd are the defaults of its calls. A script that an agent's command runs may do what that command may do.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    pid: z.string().min(1).max(200).optional(),
    code: z.string().max(SOURCE_CHARS * 2),
    target: z.string().min(1).max(256).optional(),
    cwd: z.string().min(1).max(4096).optional(),
    argv: z.array(z.string()).max(1_000).optional(),
    args: z.unknown().optional(),
  }),
  result: ScriptResult,
  fails: { 404: "there is no such process", 503: "the process was restarted" },
  example: {
    args: { code: 'const { output } = await shell("uname -a");\nreturn output;', target: "laptop" },
    result: { status: "completed", result: "Linux laptop\n", logs: [] },
  },
  async run({ agents, mcp, signal }, caller, { pid, code, target, cwd, argv = [], args = null }) {
    const process = agents.requireProcess(caller, pid);
    const mcpTools = mcp.functionsFor({ uid: process.uid, capabilities: caller.capabilities });
    return agents.scripts.run(caller, process, code, { target, cwd, argv, args, mcpTools }, signal);
  },
});
