// Which notifications interrupt: the same rules for push messages and for notices in the page.

import type { NotificationLevel, NotificationSource } from "./notification-records.ts";
import type { NotificationOrigin, Threshold } from "./push-records.ts";

/** Where a notification comes from, as people distinguish it. */
export function originOf(source: NotificationSource): NotificationOrigin {
  switch (source.kind) {
    case "kernel":
      return source.topic;
    case "process":
      return "agents";
    case "app":
      return "apps";
    case "user":
      return "you";
  }
}

/** Whether somebody waits for the person. */
export function isQuestion(source: NotificationSource): boolean {
  return source.kind === "kernel" && (source.topic === "approvals" || source.topic === "budgets");
}

/** Whether the text was made visible when it was written, as that of a question is: doing it again would show marks of marks. */
export function isVisible(source: NotificationSource): boolean {
  return source.kind === "kernel" && source.topic === "approvals";
}

export function reaches(level: NotificationLevel, threshold: Threshold): boolean {
  switch (threshold) {
    case "all":
      return true;
    case "warning":
      return level === "warning" || level === "error";
    case "error":
      return level === "error";
    case "never":
      return false;
  }
}
