// Calls that mean the same on every target: written once, for the files and the shell of any machine.

import { z } from "zod";
import type { Data, Declaration, DeclaredCall, IdentifiedOrigins, Schema } from "../../calls/define.ts";
import type { Machine } from "../filesystem.ts";

type HardwareDeclaration<N extends string, A extends Schema, R extends Schema> = Declaration<N, A, R> & {
  runs: "hardware";
  does: "read" | "effect";
  from: IdentifiedOrigins;
  run(machine: Machine, args: z.output<A>): Promise<z.input<R>>;
};

/** A hardware call as a table holds it. */
export type HardwareSyscall<N extends string = string, A extends Schema = Schema, R extends Schema = Schema> = DeclaredCall<N, A, R> & {
  runs: "hardware";
  does: "read" | "effect";
  run(machine: Machine, args: Data): Promise<Data>;
};

/** The target of a hardware call. The router removes it before the body sees the arguments. */
export const TARGET = z.string().min(1).max(256).optional();

/** For an object without fields, Zod infers that every name is excluded. */
type WithTarget<T> = string extends keyof T ? { target?: string } : T & { target?: string };
type TargetedSchema<A extends Schema> = z.ZodType<WithTarget<z.output<A>>, WithTarget<z.input<A>>>;

export function hardwareSyscall<const N extends string, A extends z.ZodObject, R extends Schema>(
  declaration: HardwareDeclaration<N, A, R>,
): HardwareSyscall<N, TargetedSchema<A>, R> {
  return { ...declaration, args: declaration.args.extend({ target: TARGET }) as unknown as TargetedSchema<A> };
}
