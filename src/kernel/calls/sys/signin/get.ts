// What became of a code with which the caller signs in on another device.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isTokenLive } from "../../../../lib/token-end.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.signin.get",
  doc: "What became of a code of sys.signin.create: token is what it gave, once it was used, and isLive says whether that still lets somebody in. sys.changed with tokens announces the use.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ codeId: z.string().min(1).max(256) }),
  result: z.object({
    expiresAt: z.int(),
    token: z.object({ tokenId: z.string(), label: z.string().nullable(), expiresAt: z.int().nullable(), isLive: z.boolean() }).nullable(),
  }),
  fails: { 404: "no such code of the caller, or a newer one has replaced it" },
  example: { args: { codeId: "0d8f2a9b-8a44-4f0e-b6f5-0c1d8f2a9b10" }, result: { expiresAt: 1763200180000, token: null } },
  run({ signInCodes, tokens, now }, caller, { codeId }) {
    const code = signInCodes.find(codeId);
    if (code?.uid !== caller.uid) fail(404, `Sign-in code not found: ${codeId}`);
    const token = code.tokenId === null ? undefined : tokens.get(code.tokenId);
    if (token === undefined) return { expiresAt: code.expiresAt, token: null };
    const { tokenId, label, expiresAt } = token;
    return { expiresAt: code.expiresAt, token: { tokenId, label, expiresAt, isLive: isTokenLive(token, now) } };
  },
});
