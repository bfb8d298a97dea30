// The names of all signals, for code that must not load their schemas, such as the web page and the command line. signals.ts
// declares their payloads.

export const BODY = "body";
export const COPY_PROGRESS = "copy.progress";
export const DEVICE_STATUS = "device.status";
export const EXEC_STATUS = "exec.status";
export const NOTIFICATION_CREATED = "notification.created";
export const NOTIFICATION_DISMISSED = "notification.dismissed";
export const NOTIFICATION_UPDATED = "notification.updated";
export const REQ_CANCEL = "req.cancel";
export const SYS_CHANGED = "sys.changed";

export const PROC_CHANGED = "proc.changed";
export const RUN_STARTED = "proc.run.started";
export const RUN_STREAM = "proc.run.stream";
export const RUN_OUTPUT = "proc.run.output";
export const TOOL_STARTED = "proc.run.tool.started";
export const TOOL_FINISHED = "proc.run.tool.finished";
export const HIL_REQUESTED = "proc.run.hil.requested";
export const RUN_RETRYING = "proc.run.retrying";
export const RUN_FINISHED = "proc.run.finished";
export const CHAT_COMPLETE = "chat.complete";

/** What processes emit and others can watch for. */
export const WATCHED_SIGNALS: ReadonlySet<string> = new Set([
  PROC_CHANGED,
  RUN_STARTED,
  RUN_OUTPUT,
  TOOL_STARTED,
  TOOL_FINISHED,
  HIL_REQUESTED,
  RUN_RETRYING,
  RUN_FINISHED,
  CHAT_COMPLETE,
]);
