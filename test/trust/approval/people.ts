// Those who may not answer a question: another user, devices, services, and agents by every means they have.

import { type Client, connect } from "../../../src/client/client.ts";
import type { Bar } from "../bar.ts";
import type { Stage, Wish } from "../agents/stage.ts";
import { RawSocket } from "../../support/raw-socket.ts";

/** Each tries once; the question must stay open. */
export async function wrongApprovers(bar: Bar, stage: Stage, requestId: string, helper: string): Promise<void> {
  const { alice, bob } = stage;
  const yes = { requestId, decision: "approve" } as const;
  const isOpen = async (who: string, why: string) => {
    const { pending } = await alice.call("proc.approval.list", {});
    bar.check(
      "wrong approvers",
      pending.some((one) => one.requestId === requestId),
      () => `${who} has answered (${why})`,
    );
  };
  const foreign = await said(bob.call("proc.hil", yes));
  const absent = await said(bob.call("proc.hil", { ...yes, requestId: "00000000-0000-4000-8000-000000000000" }));
  bar.check(
    "like an absent one",
    foreign.replace(requestId, "") === absent.replace(/0{8}-0{4}-4000-8000-0{12}/, ""),
    () => `${foreign} and ${absent}`,
  );
  await isOpen("bob", foreign);
  for (const pid of ["init:1000", "init:1001"]) await isOpen(`bob, of ${pid}`, await said(bob.call("proc.hil", { ...yes, pid })));
  await isOpen("a stranger", JSON.stringify(await answerAsStranger(stage, yes)));
  for (const role of ["driver", "service"] as const) await isOpen(`a ${role}`, await answerByRole(stage, alice, role, yes));
  for (const wish of agentAttempts(requestId)) {
    const runId = await stage.order(alice, [wish], helper);
    const moment = await stage.next(runId);
    if ("question" in moment) await alice.call("proc.hil", { requestId: moment.question.requestId, decision: "deny" });
    if ("question" in moment) await stage.next(runId);
    await isOpen(`an agent by ${JSON.stringify(wish)}`, JSON.stringify(moment));
  }
}

function agentAttempts(requestId: string): Wish[] {
  const json = JSON.stringify({ requestId, decision: "approve" });
  const shell = (input: string): Wish => ["Shell", { target: "gsv", input }];
  return [
    ...[`proc hil ${requestId} approve`, `proc approve ${requestId}`, `gsv call proc.hil '${json}'`, `gsv proc approve ${requestId}`].map(
      shell,
    ),
    ...[
      `call proc.hil '${json}'`,
      `sys proc.hil '${json}'`,
      `echo '${json}' > /proc/init:1000/hil`,
      `echo approve > /proc/self/approvals/${requestId}`,
    ].map(shell),
    ...[
      `echo '${json}' > /sys/approvals/${requestId}`,
      `curl -X POST -d '${json}' http://127.0.0.1/`,
      `echo '${json}' | tee /dev/approve`,
      `bash -c 'proc hil ${requestId} approve'`,
    ].map(shell),
    ["Write", { target: "gsv", path: `/proc/init:1000/approvals/${requestId}`, content: json }],
    ["Write", { target: "gsv", path: `/sys/approvals/${requestId}`, content: "approve" }],
    ["Edit", { target: "gsv", path: "/sys/config/ai/profile/init/tools/approval", oldString: "ask", newString: "auto" }],
    ["proc.hil", { requestId, decision: "approve" }],
    ["Approve", { requestId }],
    ["Hil", { requestId, decision: "approve" }],
  ];
}

async function answerByRole(
  { host }: Stage,
  owner: Client,
  role: "driver" | "service",
  args: { requestId: string; decision: "approve" },
): Promise<string> {
  const kind = role === "driver" ? "node" : "service";
  try {
    const { token } = await owner.call("sys.token.create", kind === "node" ? { kind, allowedDeviceId: "approver" } : { kind });
    const client = await connect({
      url: host.url,
      auth: { username: "alice", token: token.token },
      client: { id: "approver", role, ...(role === "service" ? { channel: "test" } : {}) },
      ...(role === "driver" ? { driver: { implements: ["fs.*"] } } : {}),
      reconnect: false,
    });
    const answer = await said(client.call("proc.hil", args));
    client.close();
    return answer;
  } catch (error) {
    return String(error);
  }
}

async function answerAsStranger({ host }: Stage, args: Record<string, unknown>): Promise<unknown> {
  const raw = await RawSocket.open(host.url);
  const answer = await raw.call("proc.hil", args);
  raw.close();
  return answer;
}

export async function said(call: Promise<unknown>): Promise<string> {
  try {
    return `ok ${JSON.stringify(await call)}`;
  } catch (error) {
    return String(error);
  }
}
