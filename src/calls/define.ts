// The declaration of a syscall: one value with everything there is to know about it. Dispatch, default capabilities, the
// authorization matrix, client types, reference pages and `gsv help` are derived from it and repeated nowhere.
// hardware/calls/define.ts and kernel/calls/define.ts add what a body runs on.

import type { z } from "zod";
import type { ErrorCode } from "../lib/sys-error.ts";
import type { Origin } from "../protocol/caller.ts";
import type { ChangedKind } from "../protocol/signals.ts";

export type GroupName = "users" | "drivers" | "services";

/** Arguments and results are objects. */
export type Data = Record<string, unknown>;
export type Schema = z.ZodType<Data, Data>;

/** The origins of a caller that has an identity. */
export type IdentifiedOrigins = readonly Exclude<Origin, "stranger">[];

/** The parts that do not depend on the schemas. */
export type CallFacts = {
  doc: string;
  /** Groups that hold the capability from the first start. Root's `*` covers everything. */
  grant: readonly GroupName[];
  fails: Partial<Record<ErrorCode, string>>;
  /** The result holds a secret, so its stored copy is sealed. */
  secret?: true;
  /**
   * The changes of this effect are on disk when its body returns, and stay there if the kernel's open batch fails. The answer is
   * sent whatever happens to that batch, because 507 promises that nothing was changed.
   */
  isDurableBeforeAnswer?: true;
  /** Callable only by agents' processes, or only by people, whatever capabilities and policies say. */
  only?: "processes" | "people";
  /** The lists that this call changes; the signal sys.changed tells clients to reload them. */
  changes?: ChangedKind;
  /**
   * Clients may retry this effect by themselves if the answer was lost: because it changes nothing that matters (safe), or
   * because its key makes it idempotent (keyed).
   */
  again?: "safe" | "keyed";
  /** The call carries the bytes of a file; its `body` argument is their number (protocol/body.ts). */
  carries?: "body";
  /** How many of these the gateway runs for a user at once; the others queue (kernel/fairness/lanes.ts). Not for calls on devices. */
  atOnce?: number;
  /**
   * Costs much more to run than to request: each user may start only a few of these per second, and one of each kind at a time
   * unless `atOnce` says more.
   */
  isExpensive?: true;
};

/** What the author of a call writes. */
export type Declaration<N extends string, A extends Schema, R extends Schema> = CallFacts & {
  name: N;
  args: A;
  result: R;
  example: { args: z.input<A>; result: z.input<R> };
};

/** What callers see of a call: its name and its schemas, precise where they are known. */
export type DeclaredCall<N extends string = string, A extends Schema = Schema, R extends Schema = Schema> = CallFacts & {
  name: N;
  args: A;
  result: R;
  example: { args: Data; result: Data };
  from: readonly Origin[];
};

/** What a client sends and receives. */
export type CallTypes<C> = C extends { args: infer A extends Schema; result: infer R extends Schema }
  ? { args: z.input<A>; result: z.output<R> }
  : never;
