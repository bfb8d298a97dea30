// Runs a command.

import { z } from "zod";
import { execCommand } from "../../hardware/exec.ts";
import { hardwareSyscall } from "../define.ts";

const output = { output: z.string(), truncated: z.boolean().optional(), stdout: z.string().optional(), stderr: z.string().optional() };

export default hardwareSyscall({
  name: "shell.exec",
  doc: "Start a command, or go on with one that runs. Without sessionId, input is the command. A command that is not done in time answers running with a sessionId: with that, input is text for its standard input, an empty input only looks for more output, and \\u0003 (Ctrl-C) ends it. output holds standard output, then standard error; streams asks for the two apart as well. timeout is how long the command may take and wait how long this call may, in milliseconds; neither can be more than the target allows.",
  runs: "hardware",
  does: "effect",
  keeps: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({
    input: z.string(),
    cwd: z.string().min(1).max(1024).optional(),
    sessionId: z.string().min(1).max(128).optional(),
    timeout: z.int().min(1).optional(),
    wait: z.int().min(0).optional(),
    streams: z.boolean().optional(),
  }),
  result: z.discriminatedUnion("status", [
    z.object({ status: z.literal("completed"), exitCode: z.int(), ...output }),
    z.object({ status: z.literal("running"), sessionId: z.string(), ...output }),
    z.object({ status: z.literal("failed"), error: z.string(), exitCode: z.int().optional(), sessionId: z.string().optional(), ...output }),
  ]),
  fails: { 403: "a device that is not the caller's", 429: "too many commands of the caller are running", 503: "a device that is offline" },
  example: { args: { input: "echo hello | wc -c", cwd: "~" }, result: { status: "completed", output: "6\n", exitCode: 0 } },
  run: execCommand,
});
