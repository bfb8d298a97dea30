// trust:approval. Exactly what a person approved runs, once: tries mutated answers, mutated calls, wrong approvers, late and
// repeated answers, and every way in which "remember" could cover more than was meant. The device of this bar records every call
// that reaches it. Also checks that no command, however hard to parse, blocks the kernel while it is judged. `--times N` gives
// bad answers to more questions.

import type { HilRequest } from "../../src/protocol/proc-records.ts";
import { canonicalJson } from "../../src/approval/digest.ts";
import { Stage, type Wish } from "./agents/stage.ts";
import { badDecisions } from "./approval/decisions.ts";
import { holding } from "./approval/holding.ts";
import { said, wrongApprovers } from "./approval/people.ts";
import { remembering } from "./approval/remember.ts";
import { tooLate } from "./approval/late.ts";
import { likeShell, likeWrite, sameShell } from "./approval/variants.ts";
import { Bar, numberFlag } from "./bar.ts";

const TIMES = numberFlag("times", 5);
const [DEVICE, OTHER] = ["bench", "spare"];
const bar = new Bar("B09 trust:approval");
holding(bar);
const stage = await Stage.start();
const { alice, bob } = stage;
await stage.plug(alice, DEVICE);
await stage.plug(alice, OTHER);
await stage.plug(bob, "foreign");

const { pid: helper } = await alice.call("proc.spawn", { profile: "task", label: "helper" });
const init = "init:1000";
/** How many calls on devices were approved. */
let allowed = 0;

const used = await awaitQuestion(["Shell", { target: DEVICE, input: "make once" }]);
await allow(used);
const foreignRun = await stage.order(bob, [["Shell", { target: "foreign", input: "make foreign" }]]);
const foreign = questionOf(await stage.next(foreignRun));

await checkBadDecisions();
await checkWrongApprovers();
await checkSimilarCalls(["Shell", { target: DEVICE, input: "make test" }], [...likeShell(DEVICE, OTHER), ...sameShell(DEVICE)]);
await checkSimilarCalls(["Write", { target: DEVICE, path: "/srv/site/index.html", content: "hello" }], likeWrite(DEVICE, OTHER));
allowed += await remembering(bar, stage, { device: DEVICE, other: OTHER, helper });
allowed += await tooLate(bar, stage, { device: DEVICE, foreign });
bar.check(
  "everything that ran was allowed",
  stage.reached.length === allowed,
  () => `${stage.reached.length} calls ran and ${allowed} were allowed`,
);
bar.numbers["calls allowed"] = allowed;
await stage.close();
bar.end();

/** Gives many bad answers to one question, then a good one, and the call runs once. */
async function checkBadDecisions(): Promise<void> {
  for (let time = 0; time < TIMES; time++) {
    const question = await awaitQuestion(["Shell", { target: DEVICE, input: `make ${time}` }]);
    const { requestId } = question;
    const before = stage.reached.length;
    const known = { requestId, pid: init, otherPid: helper, usedId: used.requestId, foreignId: foreign.requestId, foreignPid: "init:1001" };
    for (const { name, args } of badDecisions(known)) {
      const answer = await said(alice.call("proc.hil", args as never));
      bar.check("bad answers", !answer.startsWith("ok"), () => `${name}: ${answer}`);
    }
    const { pending } = await alice.call("proc.approval.list", { pid: init });
    bar.check("still open", pending.length === 1 && pending[0]!.requestId === requestId, () => JSON.stringify(pending));
    bar.check("nothing ran", stage.reached.length === before, () => JSON.stringify(stage.reached.slice(before)));
    await allow(question);
  }
}

async function checkWrongApprovers(): Promise<void> {
  const question = await awaitQuestion(["Shell", { target: DEVICE, input: "make wrong" }]);
  const before = stage.reached.length;
  await wrongApprovers(bar, stage, question.requestId, helper);
  bar.check("nothing ran", stage.reached.length === before, () => JSON.stringify(stage.reached.slice(before)));
  await alice.call("proc.hil", { requestId: question.requestId, decision: "deny", reason: "no" });
  await stage.next(question.runId);
}

/** An approval covers one call: every similar call, and the same call again, needs its own. */
async function checkSimilarCalls(first: Wish, others: readonly Wish[]): Promise<void> {
  await allow(await awaitQuestion(first));
  const before = stage.reached.length;
  for (const wish of [first, ...others]) {
    const runId = await stage.order(alice, [wish]);
    const moment = await stage.next(runId);
    bar.check("mutated calls", stage.reached.length === before, () => `${JSON.stringify(wish)} ran`);
    if (!("question" in moment)) continue;
    bar.check(
      "shown as it is",
      isShown(moment.question, wish),
      () => `${JSON.stringify(moment.question.args)} for ${JSON.stringify(wish)}`,
    );
    await alice.call("proc.hil", { requestId: moment.question.requestId, decision: "deny" });
    await stage.next(runId);
  }
}

/** Arguments that the tool does not have are neither shown nor run. */
function isShown({ args }: HilRequest, [, given]: Wish): boolean {
  return Object.entries(args).every(([name, value]) => given[name] === value) && !("approved" in args) && !("_meta" in args);
}

async function awaitQuestion(wish: Wish): Promise<HilRequest> {
  return questionOf(await stage.next(await stage.order(alice, [wish])));
}

function questionOf(moment: Awaited<ReturnType<typeof stage.next>>): HilRequest {
  if (!("question" in moment)) throw new Error(`there was no question: ${JSON.stringify(moment)}`);
  return moment.question;
}

/** Approves, and checks that the call runs as it was shown, byte for byte. */
async function allow({ requestId, runId }: HilRequest): Promise<void> {
  const { pending } = await alice.call("proc.approval.list", { whole: true });
  const shown = pending.find((one) => one.requestId === requestId)!;
  const before = stage.reached.length;
  await alice.call("proc.hil", { requestId, decision: "approve" });
  allowed++;
  await stage.next(runId);
  const ran = stage.reached.slice(before);
  const { target, ...args } = shown.args;
  const isSame = ran.length === 1 && ran[0]!.call === shown.syscall && canonicalJson(ran[0]!.args) === canonicalJson(args);
  bar.check(
    "ran as shown",
    isSame && shown.shown.isWhole,
    () => `${JSON.stringify(ran)} for ${JSON.stringify(shown)} on ${String(target)}`,
  );
}
