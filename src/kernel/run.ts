// Runs a decoded call of the kernel: a read directly, a write in one transaction, an effect with functions that commit. If a request
// has an idempotency key, its result is stored in the transaction that produced it.

import type { Data } from "../calls/define.ts";
import { allows } from "../lib/capability.ts";
import { fail } from "../lib/sys-error.ts";
import type { Caller, Stranger } from "../protocol/caller.ts";
import type { Req } from "../protocol/frames.ts";
import type { KernelSyscall, Syscall } from "./calls/define.ts";
import type { EffectContext, ReadContext, WriteContext } from "./context.ts";
import type { CallAnswer } from "./gate.ts";
import type { Store } from "./store.ts";

/** What an effect gets besides rows. */
export type EffectServices = Pick<
  EffectContext,
  | "passwords"
  | "throttle"
  | "setupAccess"
  | "repos"
  | "copies"
  | "ai"
  | "agents"
  | "trials"
  | "vitals"
  | "net"
  | "mcp"
  | "oauth"
  | "scheduler"
  | "push"
>;

const NOTHING: CallAnswer["after"] = [];

export function runInKernel(
  store: Store,
  services: EffectServices,
  call: KernelSyscall,
  caller: Caller | Stranger,
  args: Data,
  frame: Req,
  signal: () => AbortSignal,
): CallAnswer | Promise<CallAnswer> {
  switch (call.does) {
    case "read":
      return { data: call.run(store.reads, caller, args), after: NOTHING };
    case "write": {
      const { value, after } = store.transact((nouns) => runOncePerKey(store, call, caller, frame, () => call.run(nouns, caller, args)));
      return { data: value, after };
    }
    case "effect":
      return runEffect(store, services, call, caller, args, frame, signal());
  }
}

async function runEffect(
  store: Store,
  services: EffectServices,
  call: Extract<KernelSyscall, { does: "effect" }>,
  caller: Caller | Stranger,
  args: Data,
  frame: Req,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const after: (() => void)[] = [];
  const stored = findResult(store, caller, frame);
  if (stored !== undefined) return { data: stored.data, after };
  const context: EffectContext = Object.assign(Object.create(store.reads) as ReadContext, services, {
    signal,
    key: frame.key === undefined || caller.origin === "stranger" ? undefined : `${caller.uid}/${frame.key}`,
    commit<T>(body: (nouns: WriteContext) => T): Promise<T> {
      return store.commit((nouns) => {
        checkStillAllowed(store.reads, call, caller);
        return body(nouns);
      });
    },
    async finish<T>(body: (nouns: WriteContext) => T): Promise<T> {
      const written = store.transact((nouns) =>
        runOncePerKey(store, call, caller, frame, () => {
          checkStillAllowed(store.reads, call, caller);
          return body(nouns);
        }),
      );
      after.push(...written.after);
      return written.value;
    },
    relaxed<T>(body: (nouns: WriteContext) => T): T {
      const written = store.transactRelaxed(body);
      after.push(...written.after);
      return written.value;
    },
  });
  const data = await call.run(context, caller, args);
  return { data, after, isDurableElsewhere: call.isDurableBeforeAnswer === true };
}

/** While an effect awaited, the caller may have been locked, revoked, or lost the capability for this call. */
export function checkStillAllowed(reads: ReadContext, call: Pick<Syscall, "name">, caller: Caller | Stranger): void {
  if (caller.origin === "stranger") return;
  const present = reads.connections.caller(caller.connectionId) ?? caller.refresh?.();
  if (present === undefined) fail(503, "The caller has disconnected");
  if (!allows(present.capabilities, call.name)) fail(403, `Permission denied: ${call.name}`);
}

/** Runs inside the transaction: returns the stored result of this key, or runs the body and stores its result. */
function runOncePerKey<T>(store: Store, call: Syscall, caller: Caller | Stranger, frame: Req, body: () => T): T {
  if (frame.key === undefined || caller.origin === "stranger") return body();
  const stored = findResult(store, caller, frame);
  if (stored !== undefined) return stored.data as T;
  const data = body();
  store.nouns.results.store(caller.uid, frame, data, call.secret === true, store.reads.now);
  return data;
}

function findResult({ nouns, reads }: Store, caller: Caller | Stranger, frame: Req): { data: unknown } | undefined {
  if (frame.key === undefined || caller.origin === "stranger") return undefined;
  return nouns.results.find(caller.uid, frame, reads.now);
}
