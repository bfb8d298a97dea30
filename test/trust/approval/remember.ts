// "Remember" covers what the person chose and no more: not other commands, folders or devices, not other processes or children,
// not other times. Without a scope it covers calls similar to the approved one: no further tag, and no opaque command.

import type { Bar } from "../bar.ts";
import { edit } from "../agents/hand.ts";
import type { Stage, Wish } from "../agents/stage.ts";
import { said } from "./people.ts";
import { likeShell, unlikeUptime } from "./variants.ts";

type Scope = "exact" | "folder" | "tool";
type Remember = { scope?: Scope; ttlMs?: number; remember?: true };
/** With `isAskedAgain` the grant does not cover `first` itself. */
type Group = { name: string; first: Wish; isAskedAgain?: true; how: Remember; runs: Wish[]; asks: Wish[] };

const DAY_MS = 24 * 60 * 60 * 1000;

export async function remembering(
  bar: Bar,
  stage: Stage,
  { device, other, helper }: { device: string; other: string; helper: string },
): Promise<number> {
  const { alice } = stage;
  let allowed = 0;
  /** Whether the call ran without a question; a question is denied. */
  const tryOne = async (wish: Wish, pid?: string): Promise<"ran" | "asked" | "refused"> => {
    const before = stage.reached.length;
    const runId = await stage.order(alice, [wish], pid);
    const moment = await stage.next(runId);
    if ("ended" in moment) return stage.reached.length > before ? "ran" : "refused";
    await alice.call("proc.hil", { requestId: moment.question.requestId, decision: "deny" });
    await stage.next(runId);
    return stage.reached.length > before ? "ran" : "asked";
  };
  /**
   * All calls in one run, which is quicker: those that reached devices, and those that raised a question. Every question is
   * denied.
   */
  const tryAll = async (wishes: readonly Wish[]): Promise<{ ran: unknown[]; asked: unknown[] }> => {
    const before = new Set<unknown>(stage.reached);
    const asked: unknown[] = [];
    const runId = await stage.order(alice, wishes);
    for (let moment = await stage.next(runId); "question" in moment; moment = await stage.next(runId)) {
      asked.push(moment.question.args);
      await alice.call("proc.hil", { requestId: moment.question.requestId, decision: "deny" });
    }
    return { ran: stage.reached.filter((one) => !before.has(one)), asked };
  };
  const remember = async (wish: Wish, how: Remember): Promise<string> => {
    const runId = await stage.order(alice, [wish]);
    const moment = await stage.next(runId);
    if (!("question" in moment)) throw new Error(`there was no question: ${JSON.stringify(moment)}`);
    const answer = await alice.call("proc.hil", { requestId: moment.question.requestId, decision: "approve", ...how });
    allowed++;
    await stage.next(runId);
    return answer.grant!.grantId;
  };

  const child = (await alice.call("proc.spawn", { profile: "task", label: "child", parentPid: "init:1000" })).pid;
  for (const { name, first, isAskedAgain, how, runs, asks } of groups(device, other)) {
    const grantId = await remember(first, how);
    const covered = isAskedAgain ? runs : [first, ...runs];
    const { ran, asked } = await tryAll(covered);
    allowed += ran.length;
    for (const [at, wish] of covered.entries())
      bar.check("remembered", ran[at] !== undefined && asked[at] === undefined, () => `${name}: ${JSON.stringify({ wish, ran, asked })}`);
    for (const wishes of chunks(isAskedAgain ? [first, ...asks] : asks)) {
      const { ran } = await tryAll(wishes);
      for (const at of wishes.keys())
        bar.check("beyond what is remembered", ran[at] === undefined, () => `${name}: ${JSON.stringify(ran[at])} ran`);
    }
    for (const pid of [helper, child]) {
      const outcome = await tryOne(first, pid);
      bar.check("other processes", outcome !== "ran", () => `${name}: ${JSON.stringify(first)} of ${pid} ${outcome}`);
    }
    const { grants } = await alice.call("proc.approval.list", {});
    bar.check(
      "listed",
      grants.some((grant) => grant.grantId === grantId),
      () => JSON.stringify(grants),
    );
    await endGrant(bar, stage, grantId, name);
    const outcome = await tryOne(first);
    bar.check("over", outcome !== "ran", () => `${name}: after its end ${outcome}`);
  }
  await checkBounds(bar, stage, device);
  return allowed;
}

const AT_ONCE = 20;

function chunks(wishes: readonly Wish[]): Wish[][] {
  return Array.from({ length: Math.ceil(wishes.length / AT_ONCE) }, (_, at) => wishes.slice(at * AT_ONCE, (at + 1) * AT_ONCE));
}

function groups(target: string, other: string): Group[] {
  const shell = (input: string, more: object = {}): Wish => ["Shell", { target, input, ...more }];
  const write = (path: string, content = "x"): Wish => ["Write", { target, path, content }];
  return [
    {
      name: "exactly a command",
      first: shell("make test"),
      how: { remember: true, scope: "exact" },
      runs: [["Shell", { input: "make test", target }]],
      asks: [...likeShell(target, other), ["Shell", { target, input: "make test", sessionId: "s1" }]],
    },
    {
      name: "commands like one",
      first: shell("uptime"),
      how: { remember: true },
      runs: [shell("df -h"), shell("cat notes.txt"), shell("uptime -p"), shell("ls", { cwd: "sub" })],
      asks: [
        ...unlikeUptime(target),
        ...["env uptime -p", "arch -arm64 ./x", "ls --unknown"].map((input) => shell(input)),
        ["Shell", { target: other, input: "uptime" }],
        ["Shell", { target: "gsv", input: "make uptime" }],
        write("notes.txt"),
        ["Delete", { target, path: "notes.txt" }],
      ],
    },
    {
      name: "commands like one that deletes",
      first: shell("rm a; touch b"),
      how: { remember: true, ttlMs: DAY_MS },
      runs: [shell("rm c"), shell("touch d; rm e"), shell("mv f g")],
      asks: ["rm a; curl x", "rm $(cat list)", "rm ~/.ssh/known_hosts", "rm /etc/hosts", "sudo rm a", "rm a; make"].map((input) =>
        shell(input),
      ),
    },
    {
      name: "commands like one nobody can read",
      first: shell("make all"),
      isAskedAgain: true,
      how: { remember: true },
      runs: [shell("uptime")],
      asks: [shell("make other"), shell("./all"), shell("rm x"), shell("sh all")],
    },
    {
      name: "writes like one",
      first: write("site/a.txt"),
      how: { remember: true },
      runs: [write("site/b.txt"), write("c.txt", "other")],
      asks: ["/srv/a.txt", "~/a.txt", "../a.txt", ".hidden", ".bashrc", "site/.git/hooks/pre-push", "AGENTS.md"].map((path) => write(path)),
    },
    {
      name: "what steers a machine, for which there is nothing like it",
      first: write("/srv/repo/.git/hooks/pre-push", "yes"),
      how: { remember: true },
      runs: [],
      asks: [write("/srv/repo/.git/hooks/pre-push", "no"), write("/srv/repo/a.txt", "yes")],
    },
    {
      name: "a folder",
      first: write("/srv/site/a.txt"),
      how: { scope: "folder", ttlMs: 7 * DAY_MS },
      runs: [write("/srv/site/b.txt"), write("/srv/site/sub/c.txt", "other")],
      asks: [
        "/srv/site/../other/x",
        "/srv/site/./../x",
        "/srv/site2/x",
        "/srv/site",
        "/srv/Site/x",
        "/srv/SITE/x",
        "/srv/site/sub/../../x",
        "srv/site/x",
        "~/srv/site/x",
        "/srv/site/.ssh/authorized_keys",
        "/srv/site/.git/hooks/post-commit",
        "/srv/site/.bashrc",
        "/srv/site/.env",
        "/srv/site/AGENTS.md",
        "/srv/site/.vscode/tasks.json",
        "\\srv\\other\\x",
        "/srv/site\\..\\x",
        "/srv/site/..\\..\\etc\\x",
        "/srv/site\0/x",
        "/SRV/site/x",
        "/etc/srv/site/x",
      ]
        .map((path) => write(path))
        .concat([
          ["Write", { target: other, path: "/srv/site/b.txt", content: "x" }],
          ["Delete", { target, path: "/srv/site/b.txt" }],
          ["Edit", { target, path: "/srv/site/b.txt", oldString: "x", newString: "y" }],
          shell("echo x > /srv/site/b.txt"),
        ]),
    },
    {
      name: "any command",
      first: shell("make all"),
      how: { scope: "tool", ttlMs: DAY_MS },
      runs: [shell("make other"), shell("ls; id")],
      asks: [
        shell("sudo id"),
        shell("echo x >> ~/.bashrc"),
        shell("cp key ~/.ssh/authorized_keys"),
        ["Shell", { target: other, input: "make all" }],
        write("/srv/x"),
        ["Delete", { target, path: "/srv/x" }],
      ],
    },
    {
      name: "exactly a write that steers a machine",
      first: write("/srv/repo/.git/hooks/pre-push", "true"),
      how: { scope: "exact", ttlMs: 30 * DAY_MS },
      runs: [],
      asks: [
        write("/srv/repo/.git/hooks/pre-push", "false"),
        write("/srv/repo/.git/hooks/pre-push ", "true"),
        write("/srv/repo/.git/hooks/pre-commit", "true"),
      ],
    },
  ];
}

/** Revokes half of the grants, and lets the other half expire. */
async function endGrant(bar: Bar, { alice, bob, host, root }: Stage, grantId: string, name: string): Promise<void> {
  if (name.length % 2 === 0) {
    const foreign = await said(bob.call("proc.approval.revoke", { grantId }));
    bar.check("revoked by others", !/true/.test(foreign), () => foreign);
    const { revoked } = await alice.call("proc.approval.revoke", { grantId });
    bar.check("revoked", revoked, () => grantId);
    return;
  }
  await edit(host.home, "kernel.db", "UPDATE grants SET expires_at = ? WHERE grant_id = ?", Date.now() - 1, grantId);
  const { grants } = await root.call("proc.approval.list", {});
  bar.check("run out", !grants.some((grant) => grant.grantId === grantId), () => JSON.stringify(grants));
}

/** A scope too wide or a time too long is refused, and the question stays open. */
async function checkBounds(bar: Bar, stage: Stage, target: string): Promise<void> {
  const { alice } = stage;
  const tries: [Wish, Remember][] = [
    [["Shell", { target, input: "make bounds" }], { scope: "folder" }],
    [["Shell", { target, input: "make bounds" }], { scope: "tool", ttlMs: DAY_MS + 1 }],
    [["Shell", { target, input: "uptime" }], { ttlMs: DAY_MS + 1 }],
    [["Shell", { target, input: "sudo make bounds" }], { scope: "tool" }],
    [["Write", { target, path: "/srv/.ssh/key", content: "x" }], { scope: "folder" }],
    [["Write", { target, path: "/srv/.ssh/key", content: "x" }], { scope: "tool" }],
    [["Write", { target, path: "/file", content: "x" }], { scope: "folder" }],
    [["Write", { target, path: "/home/alice/file", content: "x" }], { scope: "folder" }],
    [["Write", { target, path: "~/file", content: "x" }], { scope: "folder" }],
    [["Write", { target, path: "file", content: "x" }], { scope: "folder" }],
    [["Write", { target, path: "/srv/a/file", content: "x" }], { scope: "folder", ttlMs: 7 * DAY_MS + 1 }],
    [["Delete", { target: "gsv", path: "/home/alice/file" }], { scope: "folder" }],
    [["Write", { target: "gsv", path: "/home/alice/context.d/x.md", content: "x" }], { scope: "folder" }],
  ];
  for (const [wish, how] of tries) {
    const before = stage.reached.length;
    const runId = await stage.order(alice, [wish]);
    const moment = await stage.next(runId);
    if (!("question" in moment)) {
      bar.check("bounds", false, () => `${JSON.stringify(wish)} was not asked about`);
      continue;
    }
    const { requestId } = moment.question;
    const answer = await said(alice.call("proc.hil", { requestId, decision: "approve", remember: true, ...how }));
    bar.check(
      "bounds",
      !answer.startsWith("ok") && stage.reached.length === before,
      () => `${JSON.stringify(wish)} ${JSON.stringify(how)}: ${answer}`,
    );
    await said(alice.call("proc.hil", { requestId, decision: "deny" }));
    await stage.next(runId);
  }
}
