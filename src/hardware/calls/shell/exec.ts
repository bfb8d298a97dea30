// Runs a command.

import { z } from "zod";
import { execCommand } from "../../exec.ts";
import { SIGNAL_NAMES } from "../../../ports/shells.ts";
import { hardwareSyscall } from "../define.ts";

const output = {
  output: z.string(),
  truncated: z.boolean().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  part: z.int().optional(),
};

const size = z.object({ cols: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) });

export default hardwareSyscall({
  name: "shell.exec",
  doc: [
    "Start a command, or go on with one that runs. Without sessionId, input is the command. A command that is not done in time answers running with a sessionId: with that, input is text for its standard input, an empty input only looks for more output, and \\u0003 (Ctrl-C) ends it; signal goes to all of its processes.",
    "output holds standard output, then standard error, since the last look; streams asks for the two apart as well. Of too much, the beginning and the end are kept and truncated is set.",
    "timeout is how long the command may take and wait how long this call may, in milliseconds; neither can be more than the target allows, and a timeout of 0 is none but the target's own. until says what to wait for: the end, the first output, or, with sent, nothing, and then output is left for the next look. Older clients say yieldMs, which is wait brought to 250..30000, and background, which is until sent for a command that is started.",
    "A poll of a command whose device is not connected is failed and says so, unless it gives after or a key: then it is 503, for whoever waits until the device is back. It is failed as well where the device was removed, or is no longer the caller's to use.",
    "Whoever gives after, the part of the last answer that arrived (0 at first), is told again what got lost on the way.",
    "tty gives the command a terminal of that size, on devices only: Ctrl-C is a key there like any other, resize changes the size, and an empty input is the user's login shell.",
  ].join(" "),
  runs: "hardware",
  does: "effect",
  keeps: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({
    input: z.string(),
    cwd: z.string().min(1).max(1024).optional(),
    sessionId: z.string().min(1).max(128).optional(),
    timeout: z.int().min(0).optional(),
    wait: z.int().min(0).optional(),
    yieldMs: z.number().optional(),
    background: z.boolean().optional(),
    until: z.enum(["end", "output", "sent"]).optional(),
    after: z.int().min(0).optional(),
    tty: size.optional(),
    resize: size.optional(),
    signal: z.enum(SIGNAL_NAMES).optional(),
    streams: z.boolean().optional(),
  }),
  result: z.discriminatedUnion("status", [
    z.object({ status: z.literal("completed"), exitCode: z.int(), ...output }),
    z.object({ status: z.literal("running"), sessionId: z.string(), wantsInput: z.boolean().optional(), ...output }),
    z.object({ status: z.literal("failed"), error: z.string(), exitCode: z.int().optional(), sessionId: z.string().optional(), ...output }),
  ]),
  fails: {
    400: "a session that runs on another target than the one that is named",
    403: "a device that is not the caller's",
    404: "a session that is not the caller's, on a device",
    429: "too many commands of the caller are running",
    503: "a device that is offline",
  },
  example: { args: { input: "echo hello | wc -c", cwd: "~" }, result: { status: "completed", output: "6\n", exitCode: 0 } },
  run: execCommand,
});
