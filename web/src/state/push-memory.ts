// Who has turned on push messages in this browser, in the browser's storage. So they are renewed after the same user has signed in again, and
// for nobody else.

import { readItem, writeItem } from "./local-storage.ts";

/** `endpoint`: where the gateway was told that the browser is reached. */
export type PushMemory = { username: string; endpoint: string };

const KEY = "gsv.push";

export function readPushMemory(): PushMemory | null {
  try {
    const { username, endpoint } = JSON.parse(readItem(KEY) ?? "null") as PushMemory;
    return typeof username === "string" && typeof endpoint === "string" ? { username, endpoint } : null;
  } catch {
    return null;
  }
}

export function writePushMemory(memory: PushMemory | null): void {
  writeItem(KEY, memory === null ? null : JSON.stringify(memory));
}
