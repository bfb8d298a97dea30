// Pruning keeps a question as long as the grant that was made from it, and removing a device revokes its grants.

import { expect, it } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { migrate } from "../schema/migrate.ts";
import { Approvals, type StoredGrant, type NewApproval } from "./approvals.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const ASKED: NewApproval = {
  requestId: "q1",
  uid: 1000,
  pid: "p1",
  kind: "call",
  runId: "r1",
  conversationId: "default",
  callId: "c1",
  toolName: "Shell",
  syscall: "shell.exec",
  args: { input: "uptime" },
  target: "laptop",
  cwd: "/",
  digest: "d1",
  tags: ["remote"],
  why: "it was asked about",
  createdAt: 0,
  expiresAt: DAY_MS,
};
const GRANT: StoredGrant = {
  grantId: "g1",
  requestId: "q1",
  uid: 1000,
  pid: "p1",
  call: "shell.exec",
  target: "laptop",
  scope: "exact",
  digest: "d1",
  folder: null,
  tags: ["remote"],
  madeAt: DAY_MS,
  expiresAt: 31 * DAY_MS,
  revokedAt: null,
};

it("prunes answered questions, except those that a grant was made from", () => {
  const approvals = fresh();
  for (const requestId of ["q1", "q2"]) {
    approvals.addQuestion({ ...ASKED, requestId });
    approvals.decide(requestId, "approved", 1000, null, 1);
    approvals.markUsed(requestId);
  }
  approvals.addGrant(GRANT);
  approvals.prune(30.5 * DAY_MS);
  expect(approvals.get("q2")).toBeUndefined();
  expect(approvals.grantsOf("p1", "shell.exec")).toEqual([GRANT]);
  // Both are pruned long after the grant has expired.
  approvals.prune(62 * DAY_MS);
  approvals.prune(62 * DAY_MS);
  expect([approvals.get("q1"), approvals.getGrant("g1")]).toEqual([undefined, undefined]);
});

it("revokes the grants for a device, and no others", () => {
  const approvals = fresh();
  approvals.addQuestion(ASKED);
  approvals.addGrant(GRANT);
  approvals.addGrant({ ...GRANT, grantId: "g2", target: "server" });
  approvals.addGrant({ ...GRANT, grantId: "g3", uid: 1001 });
  approvals.addGrant({ ...GRANT, grantId: "g4", uid: 1001, target: "alice@laptop" });
  const gone = { owner: 1000, own: "laptop", others: "alice@laptop" };
  expect(new Set(approvals.revokeGrantsForDevice(gone, 2 * DAY_MS))).toEqual(new Set([1000, 1001]));
  // Grant g3 is for the other user's own laptop.
  expect(new Set(approvals.grantsOfUser(undefined, 2 * DAY_MS).map(({ grantId }) => grantId))).toEqual(new Set(["g2", "g3"]));
  expect(approvals.revokeGrantsForDevice(gone, 2 * DAY_MS)).toEqual([]);
});

function fresh(): Approvals {
  const sql = new MemorySql();
  migrate(sql);
  return new Approvals(sql);
}
