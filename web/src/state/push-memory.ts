// Who has turned on push messages in this browser, in the browser's storage. So they are renewed after the same user has signed in again, and
// for nobody else.

import type { Threshold } from "../../../src/protocol/push-records.ts";
import { readItem, writeItem } from "./local-storage.ts";

export type PushChoice = { level: Threshold; mayAllow: boolean };
/** `endpoint`: where the gateway was told that the browser is reached; `tokenId`: with which sign-in. */
export type PushMemory = { username: string; endpoint: string; tokenId: string; choice: PushChoice };

const KEY = "gsv.push";

export function readPushMemory(): PushMemory | null {
  try {
    const memory = JSON.parse(readItem(KEY) ?? "null") as PushMemory;
    const { username, endpoint, tokenId, choice } = memory;
    const isComplete = typeof username === "string" && typeof endpoint === "string" && typeof tokenId === "string";
    return isComplete && typeof choice === "object" ? memory : null;
  } catch {
    return null;
  }
}

export function writePushMemory(memory: PushMemory | null): void {
  writeItem(KEY, memory === null ? null : JSON.stringify(memory));
}

/** Whether this user has turned it on here. */
export function isPushedHere(username: string): boolean {
  return readPushMemory()?.username === username;
}
