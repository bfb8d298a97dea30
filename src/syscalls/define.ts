// What a syscall is: one value with everything there is to know about a call. Dispatch, default capabilities, the
// authorization matrix, client types, reference pages and `gsv help` are derived from it and repeated nowhere.
//
// `does` decides what the body may touch, by type: a read gets readers only; a write is a synchronous function inside
// one transaction (one that returns a promise does not compile); an effect may await and changes rows through commit.

import { z } from "zod";
import type { ErrorCode } from "../lib/sys-error.ts";
import type { Caller, Origin, Stranger } from "../protocol/caller.ts";
import type { Machine } from "../hardware/filesystem.ts";
import type { EffectContext, ReadContext, WriteContext } from "../kernel/context.ts";

export type Changed =
  | "approvals"
  | "capabilities"
  | "config"
  | "devices"
  | "grants"
  | "groups"
  | "processes"
  | "repositories"
  | "sessions"
  | "tokens"
  | "users"
  | "workspaces";
export type GroupName = "users" | "drivers" | "services";
export type Does = "read" | "write" | "effect";

type Schema = z.ZodType<Record<string, unknown>>;

type Common<A extends Schema, R extends Schema> = {
  name: string;
  doc: string;
  /** Where the body runs: in the kernel, or on whichever target the caller names. */
  runs: "kernel" | "hardware";
  /** Groups that hold the capability from the first start. Root's `*` covers everything. */
  grant: readonly GroupName[];
  args: A;
  result: R;
  fails: Partial<Record<ErrorCode, string>>;
  example: { args: z.input<A>; result: z.input<R> };
  /** The result holds a secret, so a stored copy of it is sealed. */
  secret?: true;
  /**
   * What an effect changed is on disk when its body returns, and stays there if the kernel's batch that is open by then
   * fails: 507, which promises that nothing was changed, would be untrue. So its answer leaves whatever becomes of that batch.
   */
  keeps?: true;
  /** Reached by calls of agents' processes alone, whatever capabilities a person holds. */
  only?: "processes";
  /** What lists show that this changes: those who look at one are told to look again (signal sys.changed). */
  changes?: Changed;
  /**
   * Of an effect that clients may send again by themselves when its answer was lost: because it changes nothing that matters
   * (safe), or because its key makes it the same one (keyed).
   */
  again?: "safe" | "keyed";
  /** A file's bytes go along with the call; its `body` argument is their number (protocol/body.ts). */
  carries?: "body";
  /** How many of them the gateway does for a user at once; the others wait their turn (kernel/lanes.ts). Not where a device does it. */
  atOnce?: number;
  /** It computes much for what it takes to ask: a user begins only so many of these in a second, one of each kind at a time unless `atOnce` says more. */
  isExpensive?: true;
};

type Identified = readonly Exclude<Origin, "stranger">[];

export type ReadCall<A extends Schema, R extends Schema> = Common<A, R> & {
  runs: "kernel";
  does: "read";
  from: Identified;
  run(context: ReadContext, caller: Caller, args: z.output<A>): z.input<R>;
};

export type WriteCall<A extends Schema, R extends Schema> = Common<A, R> & {
  runs: "kernel";
  does: "write";
  from: Identified;
  run(context: WriteContext, caller: Caller, args: z.output<A>): z.input<R>;
};

export type EffectCall<A extends Schema, R extends Schema> = Common<A, R> & {
  runs: "kernel";
  does: "effect";
  from: Identified;
  run(context: EffectContext, caller: Caller, args: z.output<A>): Promise<z.input<R>>;
};

/** A call that means the same on every target: written once, over the files and the shell of whatever it runs on. */
export type HardwareCall<A extends Schema, R extends Schema> = Common<A, R> & {
  runs: "hardware";
  does: "read" | "effect";
  from: Identified;
  run(machine: Machine, args: z.output<A>): Promise<z.input<R>>;
};

/** The few calls a socket may make before it has an identity. `when: "setup"` ends with the first user. */
export type StrangerCall<A extends Schema, R extends Schema> = Common<A, R> & {
  runs: "kernel";
  does: "effect";
  from: readonly ["stranger"];
  when?: "setup";
  run(context: EffectContext, caller: Stranger, args: z.output<A>): Promise<z.input<R>>;
};

export function syscall<A extends Schema, R extends Schema>(declaration: ReadCall<A, R> | WriteCall<A, R> | EffectCall<A, R>): Syscall {
  return declaration as Syscall;
}

export function strangerSyscall<A extends Schema, R extends Schema>(declaration: StrangerCall<A, R>): Syscall {
  return declaration as Syscall;
}

export function hardwareSyscall<A extends z.ZodObject, R extends Schema>(declaration: HardwareCall<A, R>): Syscall {
  return { ...declaration, args: declaration.args.extend({ target: TARGET }) } as Syscall;
}

/** Where a hardware call runs. The router takes it off before the body sees the rest. */
export const TARGET = z.string().min(1).max(256).optional();

type Data = Record<string, unknown>;
type Forgotten = Omit<Common<Schema, Schema>, "example" | "runs"> & {
  example: { args: Data; result: Data };
  from: readonly Origin[];
  when?: "setup";
};

/** A member of the table with its schemas forgotten: what the gate and the generators work with. */
export type Syscall = Forgotten &
  (
    | { runs: "kernel"; does: "read"; run(context: ReadContext, caller: never, args: never): Data }
    | { runs: "kernel"; does: "write"; run(context: WriteContext, caller: never, args: never): Data }
    | { runs: "kernel"; does: "effect"; run(context: EffectContext, caller: never, args: never): Promise<Data> }
    | { runs: "hardware"; does: "read" | "effect"; run(machine: Machine, args: never): Promise<Data> }
  );
