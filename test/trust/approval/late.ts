// Answers that come too late: the question was used, denied, aborted, deleted, expired or changed underneath, is answered by two
// people at once, or its owner may no longer make the call.

import type { Client } from "../../../src/client/client.ts";
import type { HilRequest } from "../../../src/protocol/proc-records.ts";
import { userPolicyKey } from "../../../src/kernel/agents/policies.ts";
import { ALICE, enter } from "../../support/people.ts";
import type { Bar } from "../bar.ts";
import { edit } from "../agents/hand.ts";
import type { Stage, Wish } from "../agents/stage.ts";
import { said } from "./people.ts";

/** `foreign` is an open question of bob's agent. */
type Around = { device: string; foreign: HilRequest };

/** How often the race is run. */
const RACES = 15;
const POLICY_KEY = userPolicyKey(1000, "init");

/** Returns how many calls were approved. */
export async function tooLate(bar: Bar, stage: Stage, around: Around): Promise<number> {
  const { alice, root, bob } = stage;
  const wish = (word: string): Wish => ["Shell", { target: around.device, input: `make ${word}` }];
  const ask = async (word: string): Promise<HilRequest> => {
    const moment = await stage.next(await stage.order(alice, [wish(word)]));
    if (!("question" in moment)) throw new Error(`there was no question: ${JSON.stringify(moment)}`);
    return moment.question;
  };
  const yes = (requestId: string, by: Client = alice) => said(by.call("proc.hil", { requestId, decision: "approve" }));
  let allowed = 0;
  /** Whatever the answer is, nothing may run. */
  const expectNothingRuns = async (kind: string, work: () => Promise<string>, isRefused = true) => {
    const before = stage.reached.length;
    const answer = await work();
    bar.check(
      kind,
      stage.reached.length === before && (!isRefused || !answer.startsWith("ok")),
      () => `${answer}, ran: ${stage.reached.length - before}`,
    );
  };

  const used = await ask("used");
  await yes(used.requestId);
  allowed++;
  await stage.next(used.runId);
  for (let time = 0; time < 5; time++) await expectNothingRuns("used", () => yes(used.requestId));

  const aborted = await ask("aborted");
  await alice.call("proc.abort", {});
  for (let time = 0; time < 3; time++) await expectNothingRuns("aborted", () => yes(aborted.requestId));

  const denied = await ask("denied");
  await alice.call("proc.hil", { requestId: denied.requestId, decision: "deny" });
  await expectNothingRuns("denied", () => yes(denied.requestId));
  await stage.next(denied.runId);

  for (const empty of ["proc.conversation.reset", "proc.reset", "proc.kill"] as const) {
    const question = await ask(empty);
    await alice.call(empty, { pid: "init:1000" });
    await expectNothingRuns("emptied", () => yes(question.requestId));
  }

  const expired = await ask("expired");
  await edit(stage.host.home, "kernel.db", "UPDATE approvals SET expires_at = 1000 WHERE request_id = ?", expired.requestId);
  await expectNothingRuns("expired", () => yes(expired.requestId));
  await alice.call("proc.abort", {});

  const changed = await ask("changed");
  const args = JSON.stringify({ target: around.device, input: "rm -rf /" });
  await edit(stage.host.home, "processes/init-1000.db", "UPDATE calls SET args = ? WHERE request_id = ?", args, changed.requestId);
  await expectNothingRuns("changed underneath", () => yes(changed.requestId), false);
  const again = await stage.next(changed.runId);
  bar.check("changed underneath", "question" in again && again.question.requestId !== changed.requestId, () => JSON.stringify(again));
  await alice.call("proc.abort", {});

  const second = await enter(stage.host, ALICE);
  for (let race = 0; race < RACES; race++) {
    const question = await ask(`race ${race}`);
    const before = stage.reached.length;
    const other = race % 3 === 0 ? "deny" : "approve";
    const answers = await Promise.all([
      said(second.call("proc.hil", { requestId: question.requestId, decision: other })),
      yes(question.requestId),
      yes(question.requestId, root),
    ]);
    const winners = answers.filter((answer) => answer.startsWith("ok"));
    bar.check("one of several answers", winners.length === 1, () => answers.join(" | "));
    await stage.next(question.runId);
    const isYes = /"decision":"approve"/.test(winners[0] ?? "");
    bar.check(
      "as the first said",
      stage.reached.length - before === (isYes ? 1 : 0),
      () => `${winners[0]}: ${stage.reached.length - before} ran`,
    );
    allowed += isYes ? 1 : 0;
  }
  second.close();

  const forbidden = await ask("forbidden");
  const policy = JSON.stringify({ default: "deny", rules: [] });
  await alice.call("sys.config.set", { key: POLICY_KEY, value: policy });
  await expectNothingRuns("denied by policy meanwhile", () => yes(forbidden.requestId), false);
  await stage.next(forbidden.runId);
  await expectNothingRuns(
    "denied by policy meanwhile",
    async () => JSON.stringify(await stage.next(await stage.order(alice, [wish("after")]))),
    false,
  );
  await alice.call("sys.config.set", { key: POLICY_KEY, value: "" });

  const { requestId } = around.foreign;
  await root.call("sys.user.lock", { username: "bob", locked: true });
  await expectNothingRuns("by a locked person", () => yes(requestId, bob));
  await expectNothingRuns("of a locked person", () => yes(requestId, root), false);
  await expectNothingRuns("of a locked person", async () => JSON.stringify((await root.call("proc.list", {})).processes.length), false);
  return allowed;
}
