// Signals the gateway sends on its own account, and which roles are told of them at sys.connect.

import type { Role } from "./records.ts";

export const SIGNALS: Record<string, { to: readonly Role[]; doc: string }> = {
  body: {
    to: ["user", "driver"],
    doc: "Something of a body that is under way: how large it is, how much of it is wanted, that it has ended.",
  },
  "copy.progress": { to: ["user"], doc: "How far an fs.copy is that was given a name for its progress." },
  "sys.changed": {
    to: ["user"],
    doc: "Something that lists show has changed (changes names what: config, tokens, users, devices, processes, approvals, grants and others): whoever looks at it reads it again. Sent to those it concerns, and to root.",
  },
  "device.status": { to: ["user", "driver"], doc: "A device connected or disconnected. Sent to the connections of those who may use it." },
  "req.cancel": {
    to: ["driver"],
    doc: "Whoever asked for a call does not want it any more: id names the request, key the call where it has one. The device ends what it is doing for it, a command included that outlived the call, and answers as ever.",
  },
  "exec.status": {
    to: ["user"],
    doc: "A command on a device that outlived the call it was started by has begun or ended. Sent to the connections of the user who started it.",
  },
};

const PROCESS =
  "Sent to those who follow the process, and to the connection the run was started from, or where that is gone to all of its owner's.";

for (const [name, doc] of Object.entries({
  "proc.changed":
    "Something of a process has changed: changes names what (messages, queue, context, usage, conversations, lifecycle, budget).",
  "proc.run.started": "A process has begun to work on something.",
  "proc.run.stream":
    "A piece of the model's answer as it comes; seq counts the pieces of one answer. Several may come as one, from firstSeq to seq.",
  "proc.run.output": "What the model has said, whole.",
  "proc.run.tool.started": "A call of the model's is carried out from now on: nobody has to be asked any more.",
  "proc.run.tool.finished":
    "A call of the model's has ended. outcome says denied or stopped where it neither succeeded nor failed; durationMs is how long it was carried out.",
  "proc.run.hil.requested": "A person is asked before something may run, or before a budget is exceeded: answer with proc.hil.",
  "proc.run.retrying": "The model did not answer and is asked again; what came of that answer is void.",
  "proc.run.finished": "A run has ended: ok, error or aborted, and why. Every run ends so, once.",
  "chat.complete": "The same as proc.run.finished under its older name.",
}))
  SIGNALS[name] = { to: ["user"], doc: `${doc} ${PROCESS}` };

export function signalsFor(role: Role): string[] {
  return Object.keys(SIGNALS).filter((name) => SIGNALS[name]!.to.includes(role));
}
