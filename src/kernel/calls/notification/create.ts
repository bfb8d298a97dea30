// Creates a notification.

import { z } from "zod";
import { NOTIFICATION, NotificationAction, NotificationLevel, NotificationRecord } from "../../../protocol/notification-records.ts";
import { announceNotification } from "../../notifications/announce.ts";
import { syscall } from "../define.ts";

const ACTIONS_MAX = 5;
/** Actions that answer a question: only the kernel's own notifications have them, because they must say exactly what is approved. */
const RESERVED: ReadonlySet<string> = new Set(["approve", "deny"]);

export default syscall({
  name: "notification.create",
  doc: "Tell the caller's user something. Its source is the process that makes the call, or the user. It expires after 30 days if it is not read, or after ttlMs, from one second to 90 days. Actions without a kind or a label are dropped, and so are those that only the kernel may offer, approve and deny. An action of kind open shows its target, a path of the web desktop such as /chat/PID.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    title: z.string().trim().min(1).max(200),
    body: z.string().trim().max(4_000).optional(),
    level: NotificationLevel.default("info"),
    actions: z
      .array(z.record(z.string(), z.unknown()))
      .max(100)
      .default([])
      .transform((actions) => actions.flatMap(readAction).slice(0, ACTIONS_MAX)),
    ttlMs: z.number().optional(),
  }),
  result: z.object({ notification: NotificationRecord }),
  fails: { 400: "no title" },
  example: {
    args: { title: "The backup is done", body: "1,204 files, 3.1 GB", level: "success" },
    result: { notification: NOTIFICATION },
  },
  run(nouns, { uid, agent }, { body, ...args }) {
    const { notifications, now } = nouns;
    const source = agent === undefined ? { kind: "user" as const } : { kind: "process" as const, processId: agent.pid };
    const notification = notifications.create(uid, { ...args, body: body || undefined, source }, now);
    announceNotification(nouns, uid, notification);
    return { notification };
  },
});

const OfferedAction = NotificationAction.extend({
  kind: z.string().trim().min(1).max(64),
  label: z.string().trim().min(1).max(64),
  target: z.string().trim().max(1_000).optional(),
});

function readAction(action: unknown): NotificationAction[] {
  const { data } = OfferedAction.safeParse(action);
  if (data === undefined || RESERVED.has(data.kind.toLowerCase())) return [];
  const { args, ...rest } = data;
  return [{ ...rest, ...(args === undefined || JSON.stringify(args).length > ARGS_CHARS_MAX ? {} : { args }) }];
}

const ARGS_CHARS_MAX = 1_000;
