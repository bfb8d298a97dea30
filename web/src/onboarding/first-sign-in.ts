// Whether a sign-in with a password is the first of a user whom an administrator added: they have no time zone of their own, have
// said nothing to an agent, and have not closed the welcome in this browser.

import { arrival } from "../state/arrival.ts";
import { call } from "../state/call.ts";
import { readItem, writeItem } from "../state/local-storage.ts";
import { mayCall, session } from "../state/session.ts";

/** The user that set-up creates, who has seen its wizard. Users that an administrator adds have higher numbers. */
const FIRST_UID = 1_000;

export async function welcomeNewUser(): Promise<void> {
  const uid = session.peek()?.identity.process.uid;
  if (uid === undefined || uid <= FIRST_UID || readItem(welcomeKey(uid)) !== null) return;
  if (!mayCall("sys.config.get") || !mayCall("proc.history")) return;
  const [{ entries }, history] = await Promise.all([call("sys.config.get", { key: timezoneKey(uid) }), call("proc.history", { limit: 1 })]);
  const hasSpoken = "messages" in history && history.messages.length > 0;
  if (entries.length === 0 && !hasSpoken) arrival.value = { page: "new user" };
}

export function timezoneKey(uid: number): string {
  return `users/${uid}/ai/timezone`;
}

export function rememberWelcome(uid: number): void {
  writeItem(welcomeKey(uid), "seen");
}

function welcomeKey(uid: number): string {
  return `gsv.welcome.${uid}`;
}
