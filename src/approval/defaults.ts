// What agents may do where nobody has said otherwise, in the format people write policies in. Reading is free. On a device
// everything else is asked about; on the gateway, what lies in homes and workspaces is an agent's to write, and what deletes,
// connects or changes how agents and machines behave is asked about.

import type { Policy, ReadPolicy, Rule } from "./policy.ts";
import type { Tag } from "./request.ts";

/** Looking at things, each by name: a call that is added later is asked about until somebody has thought of it. */
const READS = `
  fs.read fs.search fs.download shell.list
  repo.list repo.refs repo.read repo.search repo.log repo.diff repo.compare
  sys.info sys.doctor sys.config.get sys.device.get sys.device.list sys.connection.list sys.workspace.list
  sys.user.list sys.group.list sys.capability.list sys.token.list sys.mcp.list sys.oauth.list sys.link.list
  proc.list proc.history proc.history.search proc.usage proc.spending proc.context proc.queue.list proc.session.list proc.approval.list proc.approval.history proc.approval.preview proc.profile.list proc.media.read proc.subscribe proc.unsubscribe proc.conversation.get proc.conversation.list
  proc.conversation.segments proc.conversation.segment.read proc.conversation.policy.get
  ai.tools pkg.list pkg.public.list pkg.remote.list sched.list adapter.status notification.list`;

/** An agent's own work: its conversations, its children, its notices. What those do is asked about by itself. */
const OWN_WORK = `
  proc.send proc.ipc.send proc.ipc.call proc.conversation.open proc.conversation.close proc.conversation.fork proc.conversation.compact
  notification.create notification.mark_read notification.dismiss
  repo.create sys.workspace.create sys.workspace.update signal.unwatch codemode.exec codemode.run`;

/** Nobody asks these of an agent: to decide its own requests, to say who it is, to hold a provider's key. */
const NEVER =
  "proc.hil proc.approval.revoke proc.setidentity proc.ipc.deliver ai.config sys.connect sys.setup sys.setup.assist sys.setup.check sys.link.consume";

/** What makes a command on the gateway worth a question. Where it writes is the file system's to judge. */
const WORTH_ASKING: Tag[] = ["opaque", "deletes", "connects", "elevates", "policy-bearing", "reads-secret"];

const WRITES = ["fs.write", "fs.edit", "fs.upload", "fs.copy"];

const ATTENDED: Policy = {
  default: "ask",
  rules: [
    // Asking a model costs its owner something.
    { match: "sys.doctor", action: "ask", when: { argEquals: { tryModel: true } } },
    ...["fs.read", "fs.search", "fs.download", "fs.copy", "repo.read", "repo.search"].map((match): Rule => ({
      match,
      action: "ask",
      when: { anyTag: ["reads-secret"] },
    })),
    ...each(READS, "auto"),
    ...each(NEVER, "deny"),
    // Made public, a repository can be read by everybody.
    { match: "repo.create", action: "ask", when: { argEquals: { public: true } } },
    ...each(OWN_WORK, "auto"),
    // A child of another kind may be allowed more than its parent.
    { match: "proc.spawn", action: "auto", when: { argEquals: { profile: "task" } } },
    ...WRITES.flatMap((match): Rule[] => [
      { match, action: "ask", when: { anyTag: ["onto-device", "policy-bearing"] } },
      { match, action: "auto", when: { anyTag: ["in-home", "in-workspace", "scratch"] } },
    ]),
    { match: "fs.delete", action: "ask" },
    { match: "repo.apply", action: "ask", when: { anyTag: ["deletes", "policy-bearing"] } },
    { match: "repo.apply", action: "auto" },
    { match: "shell.exec", action: "auto", when: { anyTag: ["looks"] } },
    { match: "shell.exec", action: "ask", when: { target: "device" } },
    { match: "shell.exec", action: "ask", when: { anyTag: WORTH_ASKING } },
    { match: "shell.exec", action: "auto" },
  ],
};

function each(calls: string, action: Rule["action"]): Rule[] {
  return calls
    .trim()
    .split(/\s+/)
    .map((match) => ({ match, action }));
}

/** For work that starts by itself: nobody is there to be asked. */
const UNATTENDED: Policy = {
  default: "deny",
  rules: ATTENDED.rules.map((rule) => (rule.action === "ask" ? { ...rule, action: "deny" } : rule)),
};

const POLICIES: Readonly<Record<string, Policy>> = {
  init: ATTENDED,
  task: ATTENDED,
  review: ATTENDED,
  mcp: ATTENDED,
  app: ATTENDED,
  cron: UNATTENDED,
};

/** Other profiles bring their own; where one does not, people are asked as usual. */
export function defaultPolicy(profile: string): ReadPolicy {
  return { ok: true, policy: Object.hasOwn(POLICIES, profile) ? POLICIES[profile]! : ATTENDED };
}

const NAMED: ReadonlySet<string> = new Set(ATTENDED.rules.map(({ match }) => match));

/** Whether the standard policy speaks of it, if only for a later version: who begins from that one has not misspelt it. */
export function isNamedByDefault(call: string): boolean {
  return NAMED.has(call);
}
