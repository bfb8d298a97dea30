// Lists open questions and active grants.

import { z } from "zod";
import { formatRequest } from "../../../../approval/show.ts";
import { makeAskedBy, makeGrantRecord, makeHilRequest } from "../../../agents/question-records.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { AskedBy, Grant, HilRequest, Pid } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.approval.list",
  doc: "List the questions that wait for an answer, oldest first, with exactly what will run, and the grants in force. Users see those of their own processes; root sees all.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ pid: Pid.optional(), whole: z.boolean().optional() }),
  result: z.object({
    pending: z.array(
      HilRequest.extend({
        askedBy: AskedBy,
        pid: z.string(),
        uid: z.int(),
        kind: z.enum(["call", "budget"]),
        tags: z.array(z.string()),
        digest: z.string(),
        shown: z.object({ text: z.string(), isWhole: z.boolean() }),
      }),
    ),
    grants: z.array(Grant),
  }),
  fails: {},
  example: {
    args: {},
    result: {
      pending: [
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
          uid: 1000,
          kind: "call",
          tags: ["remote"],
          digest: "9f2c",
          shown: { text: "shell.exec on laptop\ninput: uptime", isWhole: true },
        },
      ],
      grants: [
        {
          grantId: "g1",
          uid: 1000,
          pid: "init:1000",
          call: "shell.exec",
          target: "laptop",
          scope: "exact",
          folder: null,
          madeAt: 1763200000000,
          expiresAt: 1763286400000,
          says: "Personal agent may run `uptime` on laptop",
          shown: { text: "shell.exec on laptop\ninput: uptime", isWhole: true },
          requestId: "q1",
        },
      ],
    },
  },
  run({ approvals, now, ...reads }, caller, { pid, whole }) {
    const uid = isRoot(caller) ? undefined : caller.uid;
    const isWanted = (of: { pid: string }) => pid === undefined || of.pid === pid;
    const pending = approvals.listPendingOfUser(uid).filter(isWanted);
    return {
      pending: pending.map((question) => ({
        ...makeHilRequest(question),
        askedBy: makeAskedBy(reads, question),
        pid: question.pid,
        uid: question.uid,
        kind: question.kind,
        tags: question.tags,
        digest: question.digest,
        shown: formatRequest({ call: question.syscall, args: question.args, target: question.target, cwd: question.cwd }, whole),
      })),
      grants: approvals
        .grantsOfUser(uid, now)
        .filter(isWanted)
        .map((grant) => makeGrantRecord(reads.processes, grant, approvals.get(grant.requestId)!, whole)),
    };
  },
});
