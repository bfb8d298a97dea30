// Signs this browser in with a code that another browser shows, also if somebody else is signed in here.

import { CallError, Connection } from "../../../src/client/client.ts";
import { BrowserRefusal, call } from "../state/call.ts";
import { browserLabel, type BrowserToken, readBrowserToken, storeBrowserToken } from "../state/browser-token.ts";
import { readPushMemory } from "../state/push-memory.ts";
import { session } from "../state/session.ts";
import type { SignInLink } from "./sign-in-link.ts";

/** How long signing out whoever was here may take. */
const SIGN_OUT_WAIT_MS = 5_000;

/** When it resolves, the page is about to load anew, as this user: it holds nothing of whoever was signed in before. */
export async function signInWithCode({ username, code }: SignInLink): Promise<void> {
  const connection = await Connection.open(location.origin);
  try {
    const { token } = await connection.call("sys.signin.redeem", { username, code, label: browserLabel() });
    const before = readBrowserToken();
    storeBrowserToken({ username, token: token.token, tokenId: token.tokenId, expiresAt: token.expiresAt! });
    if (readBrowserToken()?.username !== username)
      throw new BrowserRefusal(
        "This browser lets GSV store nothing, so it cannot stay signed in. Allow it, or sign in with your password.",
      );
    if (before !== null && session.peek() !== null) await signOut(before);
  } catch (error) {
    if (error instanceof CallError && error.code === 401)
      throw new BrowserRefusal(
        "This code was used already, or has expired: it works once, for three minutes. Make a new one in the browser where you are signed in.",
      );
    throw error;
  } finally {
    connection.close();
  }
  location.replace("/");
}

/** Whoever was signed in here is signed out, as by Sign out. If the gateway does not answer, their token expires by itself. */
async function signOut({ tokenId }: BrowserToken): Promise<void> {
  const forget = readPushMemory() === null ? null : import("../state/push.ts").then(({ forgetPush }) => forgetPush());
  const isOver = Promise.allSettled([forget, call("sys.token.revoke", { tokenId, reason: "somebody else signed in" })]);
  await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, SIGN_OUT_WAIT_MS))]);
}
