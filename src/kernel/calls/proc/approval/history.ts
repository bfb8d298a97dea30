// Lists closed questions and their answers.

import { z } from "zod";
import { formatRequest } from "../../../../approval/show.ts";
import { makeAskedBy, makeHilRequest } from "../../../agents/question-records.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { AskedBy, HilRequest } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.approval.history",
  doc: "List closed questions, newest first: what was asked, who answered and how it ended.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ before: z.number().optional(), limit: z.int().min(1).max(200).optional() }),
  result: z.object({
    questions: z.array(
      HilRequest.extend({
        askedBy: AskedBy,
        pid: z.string(),
        kind: z.enum(["call", "budget"]),
        state: z.enum(["pending", "approved", "denied", "used", "expired", "withdrawn"]),
        decidedAt: z.number().nullable(),
        decidedBy: z.int().nullable(),
        reason: z.string().nullable(),
        shown: z.object({ text: z.string(), isWhole: z.boolean() }),
      }),
    ),
  }),
  fails: {},
  example: {
    args: { limit: 20 },
    result: {
      questions: [
        {
          requestId: "q1",
          runId: "r1",
          conversationId: "default",
          callId: "c1",
          toolName: "Shell",
          syscall: "shell.exec",
          args: { target: "laptop", input: "uptime" },
          createdAt: 1763200000000,
          expiresAt: 1763286400000,
          target: "laptop",
          cwd: "",
          why: "Approval required: shell.exec on a device",
          title: "Run a command on laptop",
          explanation: "Commands on your machines need your OK.",
          askedBy: { agent: "Personal agent", schedule: null },
          pid: "init:1000",
          kind: "call",
          state: "used",
          decidedAt: 1763200005000,
          decidedBy: 1000,
          reason: null,
          shown: { text: "shell.exec on laptop\ninput: uptime", isWhole: true },
        },
      ],
    },
  },
  run({ approvals, now, ...reads }, caller, { before = now + 1, limit = 50 }) {
    const uid = isRoot(caller) ? undefined : caller.uid;
    return {
      questions: approvals.listClosed(uid, before, limit).map((question) => ({
        ...makeHilRequest(question),
        askedBy: makeAskedBy(reads, question),
        pid: question.pid,
        kind: question.kind,
        state: question.state,
        decidedAt: question.decidedAt,
        decidedBy: question.decidedBy,
        reason: question.reason,
        shown: formatRequest({ call: question.syscall, args: question.args, target: question.target, cwd: question.cwd }),
      })),
    };
  },
});
