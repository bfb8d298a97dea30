// Runs a script of an agent in its sandbox.

import { z } from "zod";
import { SOURCE_CHARS } from "../../limits.ts";
import { sandboxSyscall } from "../define.ts";
import { ScriptResult } from "../result.ts";

export default sandboxSyscall({
  name: "codemode.exec",
  doc: "Run a block of JavaScript that calls files and the shell of any target, in one step. The code is the body of an async function: await works, and return gives the result. Every call it makes is judged as if the process had made it itself. It has no network, no timers longer than a minute and no modules.",
  runs: "sandbox",
  does: "effect",
  from: ["user"],
  only: "processes",
  grant: ["users"],
  args: z.object({ code: z.string().max(SOURCE_CHARS * 2) }),
  result: ScriptResult,
  fails: { 403: "the caller is not a process" },
  example: {
    args: { code: 'const { content } = await fs.read({ path: "package.json", plain: true });\nreturn JSON.parse(content).version;' },
    result: { status: "completed", result: "0.1.0" },
  },
});
