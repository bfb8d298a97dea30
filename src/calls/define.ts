// What every syscall declares: one value with everything there is to know about a call. Dispatch, default capabilities,
// the authorization matrix, client types, reference pages and `gsv help` are derived from it and repeated nowhere.
// What a body runs on is added where it runs: hardware/calls/define.ts and kernel/calls/define.ts.

import type { z } from "zod";
import type { ErrorCode } from "../lib/sys-error.ts";
import type { Origin } from "../protocol/caller.ts";
import type { Changed } from "../protocol/signals.ts";

export type GroupName = "users" | "drivers" | "services";

/** Arguments and results are objects. */
export type Data = Record<string, unknown>;
export type Schema = z.ZodType<Data, Data>;

/** The origins of a call that has an identity. */
export type Identified = readonly Exclude<Origin, "stranger">[];

/** The parts that do not depend on the schemas. */
export type Facts = {
  doc: string;
  /** Groups that hold the capability from the first start. Root's `*` covers everything. */
  grant: readonly GroupName[];
  fails: Partial<Record<ErrorCode, string>>;
  /** The result holds a secret, so a stored copy of it is sealed. */
  secret?: true;
  /**
   * What an effect changed is on disk when its body returns, and stays there if the kernel's batch that is open by then
   * fails: 507, which promises that nothing was changed, would be untrue. So its answer leaves whatever becomes of that batch.
   */
  keeps?: true;
  /** Reached by calls of agents' processes alone, whatever capabilities a person holds. */
  only?: "processes";
  /** The lists that this call changes: clients that show one are told to reload it (signal sys.changed). */
  changes?: Changed;
  /**
   * An effect that clients may repeat by themselves when its answer was lost: because it changes nothing that matters
   * (safe), or because its key makes it idempotent (keyed).
   */
  again?: "safe" | "keyed";
  /** A file's bytes go along with the call; its `body` argument is their number (protocol/body.ts). */
  carries?: "body";
  /** How many of them the gateway runs for a user at once; the others queue (kernel/fairness/lanes.ts). Not where a device runs it. */
  atOnce?: number;
  /** It computes much for what it takes to ask: a user starts only so many of these a second, one of each kind at a time unless `atOnce` says more. */
  isExpensive?: true;
};

/** What the author of a call writes. */
export type Declaration<N extends string, A extends Schema, R extends Schema> = Facts & {
  name: N;
  args: A;
  result: R;
  example: { args: z.input<A>; result: z.input<R> };
};

/** What callers see of a call: its name and its schemas, precise where they are known. */
export type Declared<N extends string = string, A extends Schema = Schema, R extends Schema = Schema> = Facts & {
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
