// Starts a process.

import { z } from "zod";
import { DEFAULT_PROFILE } from "../../agents/profiles.ts";
import { ContextFile, Pid } from "../../../protocol/proc-records.ts";
import { WorkspaceSpec } from "../../../protocol/workspace-spec.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.spawn",
  doc: "Start an agent process as a child of another, with the identity of its parent. Its profile is task by default. It works in its home, in its parent's workspace, in an existing workspace or in a new one. Each user has one init process: for that profile, the call only sends it the prompt.",
  runs: "kernel",
  does: "effect",
  changes: "processes",
  from: ["user"],
  grant: ["users"],
  isDurableBeforeAnswer: true,
  isExpensive: true,
  args: z.object({
    profile: z.string().trim().min(1).max(64).default(DEFAULT_PROFILE),
    label: z.string().max(200).optional(),
    prompt: z.string().max(1_000_000).optional(),
    assignment: z.object({ contextFiles: z.array(ContextFile).max(50), autoStart: z.boolean().optional() }).optional(),
    parentPid: Pid.optional(),
    workspace: WorkspaceSpec.optional(),
    /** There are no packages yet: mounts are refused instead of being ignored silently. */
    mounts: z.array(z.unknown()).max(0, { error: "mounts are not supported: this gateway has no packages. Leave them out" }).optional(),
  }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    label: z.string().optional(),
    profile: z.string(),
    workspaceId: z.string().nullable(),
    cwd: z.string(),
  }),
  fails: {
    400: "there is no such profile, or mounts were given",
    403: "a process may not start one with this profile",
    404: "the parent or the workspace does not exist",
    429: "too many processes",
  },
  example: {
    args: { profile: "task", label: "tidy up", prompt: "Tidy up my notes." },
    result: {
      ok: true,
      pid: "5f6c4a3e-1111-4222-8333-944444444444",
      label: "tidy up",
      profile: "task",
      workspaceId: null,
      cwd: "/home/alice",
    },
  },
  run: ({ agents }, caller, args) => agents.spawn(caller, args),
});
