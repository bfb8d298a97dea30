// Watches for signals on the wire, as schemas.

import { z } from "zod";

export const SignalWatch = z.object({
  watchId: z.string(),
  /** The process that is told. */
  pid: z.string(),
  signal: z.string(),
  /** The process whose signals it waits for; null for any other process of the user. */
  processId: z.string().nullable(),
  key: z.string().nullable(),
  state: z.unknown().optional(),
  once: z.boolean(),
  /** matched: its one signal has come and is being delivered. failed: it tells nobody any more, and error says why. */
  status: z.enum(["active", "matched", "failed"]),
  error: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
  expiresAt: z.number(),
});
export type SignalWatch = z.infer<typeof SignalWatch>;
