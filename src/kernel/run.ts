// Runs a decoded call: a read at once, a write in its transaction, an effect with the means to commit. Where a request
// carries a key, the result is stored in the transaction that made it true.

import type { Answer } from "./gate.ts";
import { allows } from "../lib/capability.ts";
import { fail } from "../lib/sys-error.ts";
import type { Sql } from "../ports/sql.ts";
import type { Caller, Stranger } from "../protocol/caller.ts";
import type { Req } from "../protocol/frames.ts";
import type { Data } from "../calls/define.ts";
import type { HardwareSyscall } from "../hardware/calls/define.ts";
import type { KernelSyscall, Syscall } from "./calls/define.ts";
import type { EffectContext, ReadContext, WriteContext } from "./context.ts";
import type { Results } from "./nouns/results.ts";
import type { HardwareArgs } from "./route.ts";
import type { Transactor } from "./transactor.ts";

type Means = {
  sql: Sql;
  transactor: Transactor;
  results: Results;
  reads: ReadContext;
  writes: WriteContext;
  effects: Pick<EffectContext, "passwords" | "throttle" | "setupDoor" | "repos" | "copies" | "ai" | "agents" | "trials" | "vitals">;
  /** Runs a hardware call where the caller wants it. What a device did stays, whatever becomes of the kernel's rows. */
  hardware(call: HardwareSyscall, caller: Caller, args: HardwareArgs, frame: Req, signal: AbortSignal): Promise<Answer>;
};

const NOTHING: Answer["after"] = [];

export function run(
  means: Means,
  call: Syscall,
  caller: Caller | Stranger,
  args: Data,
  frame: Req,
  signal: () => AbortSignal,
): Answer | Promise<Answer> {
  if (call.runs === "hardware") return onHardware(means, call, caller, args, frame, signal());
  switch (call.does) {
    case "read":
      return { data: call.run(means.reads, caller, args), after: NOTHING };
    case "write": {
      const written = means.transactor.run(() => keyed(means, call, caller, frame, () => call.run(means.writes, caller, args)));
      return { data: written.value, after: written.after };
    }
    case "effect":
      return effect(means, call, caller, args, frame, signal());
  }
}

async function onHardware(
  means: Means,
  call: HardwareSyscall,
  caller: Caller | Stranger,
  args: Data,
  frame: Req,
  signal: AbortSignal,
): Promise<Answer> {
  if (caller.origin === "stranger") fail(403, "Must call sys.connect first");
  return means.hardware(call, caller, args, frame, signal);
}

async function effect(
  means: Means,
  call: Extract<KernelSyscall, { does: "effect" }>,
  caller: Caller | Stranger,
  args: Data,
  frame: Req,
  signal: AbortSignal,
): Promise<Answer> {
  const { transactor, reads, writes, sql } = means;
  const after: (() => void)[] = [];
  const stored = find(means, caller, frame);
  if (stored !== undefined) return { data: stored.data, after };
  const context: EffectContext = Object.assign(Object.create(reads) as ReadContext, means.effects, {
    signal,
    key: frame.key === undefined || caller.origin === "stranger" ? undefined : `${caller.uid}/${frame.key}`,
    async commit<T>(body: (nouns: WriteContext) => T): Promise<T> {
      const written = transactor.run(() => {
        mustStillMay(means.reads, call, caller);
        return body(writes);
      });
      await sql.durable();
      for (const action of written.after) action();
      return written.value;
    },
    async finish<T>(body: (nouns: WriteContext) => T): Promise<T> {
      const written = transactor.run(() =>
        keyed(means, call, caller, frame, () => {
          mustStillMay(means.reads, call, caller);
          return body(writes);
        }),
      );
      after.push(...written.after);
      return written.value;
    },
    relaxed<T>(body: (nouns: WriteContext) => T): T {
      const written = transactor.relaxed(() => body(writes));
      after.push(...written.after);
      return written.value;
    },
  });
  const data = await call.run(context, caller, args);
  return { data, after, stays: call.keeps === true };
}

/** An effect awaits, and while it did the caller may have been locked out, revoked, or lost the right to this call. */
export function mustStillMay(reads: ReadContext, call: Pick<Syscall, "name">, caller: Caller | Stranger): void {
  if (caller.origin === "stranger") return;
  const present = reads.connections.caller(caller.connectionId) ?? caller.present?.();
  if (present === undefined) fail(503, "The caller went away");
  if (!allows(present.capabilities, call.name)) fail(403, `Permission denied: ${call.name}`);
}

/** Inside the transaction: the first result for this key, or the body's, stored. */
function keyed<T>(means: Means, call: Syscall, caller: Caller | Stranger, frame: Req, body: () => T): T {
  if (frame.key === undefined || caller.origin === "stranger") return body();
  const stored = find(means, caller, frame);
  if (stored !== undefined) return stored.data as T;
  const data = body();
  means.results.store(caller.uid, frame, data, call.secret === true, means.reads.now);
  return data;
}

function find(means: Means, caller: Caller | Stranger, frame: Req): { data: unknown } | undefined {
  if (frame.key === undefined || caller.origin === "stranger") return undefined;
  return means.results.find(caller.uid, frame, means.reads.now);
}
