// Who has turned on push messages in this browser, in the browser's storage. So they are renewed after the same user has signed in again, and
// for nobody else.

import { readItem, writeItem } from "./local-storage.ts";

/** `endpoint`: where the gateway was told that the browser is reached; `tokenId`: with which sign-in. */
export type PushMemory = { username: string; endpoint: string; tokenId: string };

const KEY = "gsv.push";

export function readPushMemory(): PushMemory | null {
  try {
    const { username, endpoint, tokenId } = JSON.parse(readItem(KEY) ?? "null") as PushMemory;
    const isComplete = typeof username === "string" && typeof endpoint === "string" && typeof tokenId === "string";
    return isComplete ? { username, endpoint, tokenId } : null;
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
