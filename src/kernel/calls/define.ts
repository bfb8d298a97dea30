// Calls that the kernel runs. `does` decides by type what the body may use: a read gets only readers; a write is a synchronous function in
// one transaction (one that returns a promise does not compile); an effect may await, and changes rows through commit.

import type { z } from "zod";
import type { Data, Declaration, DeclaredCall, IdentifiedOrigins, Schema } from "../../calls/define.ts";
import type { HardwareSyscall } from "../../hardware/calls/define.ts";
import type { SandboxSyscall } from "../../sandbox/calls/define.ts";
import type { Caller, Stranger } from "../../protocol/caller.ts";
import type { EffectContext, ReadContext, WriteContext } from "../context.ts";

type ReadCall<N extends string, A extends Schema, R extends Schema> = Declaration<N, A, R> & {
  runs: "kernel";
  does: "read";
  from: IdentifiedOrigins;
  run(context: ReadContext, caller: Caller, args: z.output<A>): z.input<R>;
};

type WriteCall<N extends string, A extends Schema, R extends Schema> = Declaration<N, A, R> & {
  runs: "kernel";
  does: "write";
  from: IdentifiedOrigins;
  run(context: WriteContext, caller: Caller, args: z.output<A>): z.input<R>;
};

type EffectCall<N extends string, A extends Schema, R extends Schema> = Declaration<N, A, R> & {
  runs: "kernel";
  does: "effect";
  from: IdentifiedOrigins;
  run(context: EffectContext, caller: Caller, args: z.output<A>): Promise<z.input<R>>;
};

/** The few calls that a socket may make before it has an identity. `when: "setup"`: only until there is a user. */
type StrangerCall<N extends string, A extends Schema, R extends Schema> = Declaration<N, A, R> & {
  runs: "kernel";
  does: "effect";
  from: readonly ["stranger"];
  when?: "setup";
  run(context: EffectContext, caller: Stranger, args: z.output<A>): Promise<z.input<R>>;
};

type CallBody =
  | { does: "read"; run(context: ReadContext, caller: Caller | Stranger, args: Data): Data }
  | { does: "write"; run(context: WriteContext, caller: Caller | Stranger, args: Data): Data }
  | { does: "effect"; run(context: EffectContext, caller: Caller | Stranger, args: Data): Promise<Data> };

/** A kernel call as the table holds it. The gate checks origin and arguments before it runs the body. */
export type KernelSyscall<N extends string = string, A extends Schema = Schema, R extends Schema = Schema> = DeclaredCall<N, A, R> &
  CallBody & { runs: "kernel"; when?: "setup" };

/** Any call of the table. */
export type Syscall = KernelSyscall | (HardwareSyscall & { when?: never }) | (SandboxSyscall & { when?: never });

export function syscall<const N extends string, A extends Schema, R extends Schema>(
  declaration: ReadCall<N, A, R> | WriteCall<N, A, R> | EffectCall<N, A, R>,
): KernelSyscall<N, A, R> {
  return declaration;
}

export function strangerSyscall<const N extends string, A extends Schema, R extends Schema>(
  declaration: StrangerCall<N, A, R>,
): KernelSyscall<N, A, R> {
  return declaration;
}
