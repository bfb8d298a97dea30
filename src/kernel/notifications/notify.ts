// Creates the kernel's own notifications, inside the transaction of what they report.

import { shorten } from "../../lib/shorten.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { KernelTopic, NotificationAction, NotificationLevel } from "../../protocol/notification-records.ts";
import { NOTIFICATION_DISMISSED } from "../../protocol/signal-names.ts";
import type { WriteContext } from "../context.ts";
import type { NotificationReads } from "../nouns/notifications.ts";
import { type AnnounceNouns, announceNotification } from "./announce.ts";

export type KernelNotification = {
  topic: KernelTopic;
  title: string;
  body?: string;
  level: NotificationLevel;
  /** The process that it is about. */
  pid?: string | undefined;
  actions?: readonly NotificationAction[];
  /** A newer notification about the same replaces it. */
  about?: string;
  ttlMs?: number;
};

export type NotifyNouns = AnnounceNouns & Pick<WriteContext, "notifications">;

const TITLE_CHARS_MAX = 200;
export const BODY_CHARS_MAX = 2_000;

export function notify(nouns: NotifyNouns, uid: number, notification: KernelNotification): void {
  const { notifications, now } = nouns;
  const { topic, pid, title, body, actions = [], level, about, ttlMs } = notification;
  const source = { kind: "kernel" as const, topic, ...(pid === undefined ? {} : { processId: pid }) };
  const text = { title: shorten(title, TITLE_CHARS_MAX), body: body === undefined ? undefined : shorten(body, BODY_CHARS_MAX) };
  const record = notifications.create(uid, { ...text, level, actions, source, ttlMs, ...(about === undefined ? {} : { about }) }, now);
  announceNotification(nouns, uid, record);
}

/** What a notification was about is over. */
export function dismissAbout({ notifications, emit, after, now }: NotifyNouns, uid: number, about: string): void {
  const record = notifications.dismissAbout(uid, about, now);
  if (record !== null) after(() => emit.sendNotification(uid, NOTIFICATION_DISMISSED, record));
}

/** Fails for an agent that would hide what the kernel tells a person, such as that a schedule was paused. */
export function checkMayHide(
  notifications: Pick<NotificationReads, "find">,
  { uid, agent }: Caller,
  notificationId: string,
  now: number,
): void {
  if (agent !== undefined && notifications.find(uid, notificationId, now)?.source.kind === "kernel")
    fail(403, "A process cannot hide a notification of the gateway: tell the person about it");
}

/** An action that shows a process in the web desktop. */
export function openProcess(pid: string): NotificationAction {
  return { kind: "open", label: "Open", target: `/chat/${encodeURIComponent(pid)}` };
}
