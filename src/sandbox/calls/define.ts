// Calls that a process runs in its sandbox. The gate authorizes and judges them and runs nothing itself.

import type { Declaration, DeclaredCall, Schema } from "../../calls/define.ts";

/** A sandbox call as the table holds it. */
export type SandboxSyscall<N extends string = string, A extends Schema = Schema, R extends Schema = Schema> = DeclaredCall<N, A, R> & {
  runs: "sandbox";
  does: "effect";
  only: "processes";
};

export function sandboxSyscall<const N extends string, A extends Schema, R extends Schema>(
  declaration: Declaration<N, A, R> & Pick<SandboxSyscall, "runs" | "does" | "only"> & { from: readonly ["user"] },
): SandboxSyscall<N, A, R> {
  return declaration;
}
