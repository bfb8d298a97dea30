// Where a new process works.

import { z } from "zod";

export const WorkspaceSpec = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("none") }),
  z.object({ mode: z.literal("inherit") }),
  z.object({ mode: z.literal("attach"), workspaceId: z.string().min(1).max(128) }),
  z.object({ mode: z.literal("new"), label: z.string().max(200).optional(), kind: z.enum(["thread", "app", "shared"]).optional() }),
]);
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>;
