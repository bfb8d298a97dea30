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
    "Start a command, or continue one that is running. Without sessionId, input is the command. A command that does not finish in time returns running with a sessionId. With that sessionId, input is text for its standard input, an empty input only polls for more output, and \\u0003 (Ctrl-C) ends it; signal is sent to all of its processes.",
    "output holds standard output, then standard error, since the last poll; streams also returns the two separately. If there is too much, the beginning and the end are kept and truncated is set.",
    "timeout is how long the command may run and wait how long this call may take, in milliseconds; the target limits both, and a timeout of 0 means only the target's own limit. until says what to wait for: the end, the first output, or, with sent, nothing, which leaves the output for the next poll. Older clients send yieldMs, which is wait clamped to 250..30000, and background, which means until sent when a command is started.",
    "A poll of a command whose device is not connected returns failed with that reason, unless it has after or a key: then it fails with 503, so that the caller can wait until the device is back. It also returns failed if the device was removed or the caller may no longer use it.",
    "after is the part of the last answer that arrived (0 at first): output that was lost on the way is then returned again.",
    "tty gives the command a terminal of that size, on devices only: Ctrl-C is then an ordinary key, resize changes the size, and an empty input starts the user's login shell.",
  ].join(" "),
  runs: "hardware",
  does: "effect",
  isDurableBeforeAnswer: true,
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
    400: "the session runs on another target than the one named",
    403: "the caller may not use the device",
    404: "the session on a device is not the caller's",
    429: "too many commands of the caller are running",
    503: "the device is offline",
  },
  example: { args: { input: "echo hello | wc -c", cwd: "~" }, result: { status: "completed", output: "6\n", exitCode: 0 } },
  run: execCommand,
});
