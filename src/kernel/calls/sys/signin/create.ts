// Makes a code with which the caller signs in on another device.

import { z } from "zod";
import { mustBeAbleToSignIn } from "../../../identity/sign-in-code.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.signin.create",
  doc: "Make a code with which the caller signs in on another device, such as a phone that reads it as a QR code. It is valid for three minutes, works once (sys.signin.redeem), and ends with the token of the caller, with a new code, and with a new password. Only the answer contains it.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  secret: true,
  args: z.object({}),
  result: z.object({ codeId: z.string(), code: z.string(), createdAt: z.int(), expiresAt: z.int() }),
  fails: { 403: "the caller is a process, or may not create tokens" },
  example: {
    args: {},
    result: {
      codeId: "0d8f2a9b-8a44-4f0e-b6f5-0c1d8f2a9b10",
      code: "(22 characters, shown once)",
      createdAt: 1763200000000,
      expiresAt: 1763200180000,
    },
  },
  run({ signInCodes, now }, caller) {
    mustBeAbleToSignIn(caller);
    const { uid, credential } = caller;
    const isToken = credential.kind === "token";
    return signInCodes.make(
      { uid, madeWith: isToken ? credential.tokenId : null, tokenEndsAt: isToken ? credential.expiresAt : null },
      now,
    );
  },
});
