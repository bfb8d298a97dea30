// The default policy, in the format people write policies in. Reads run without approval. On a device everything else needs
// approval. On the gateway an agent may write to homes and workspaces; deleting, connecting to the network and changing how
// agents or machines behave need approval.

import type { Policy, PolicyResult, Rule } from "./policy.ts";
import type { Tag } from "./request.ts";

/** Calls that only read, listed one by one: a call added later needs approval until somebody decides about it. */
export const READS = `
  fs.read fs.search fs.download shell.list
  repo.list repo.refs repo.read repo.search repo.log repo.diff repo.compare
  sys.info sys.vitals sys.network sys.doctor sys.config.get sys.device.get sys.device.list sys.connection.list sys.workspace.list
  sys.user.list sys.group.list sys.capability.list sys.token.list sys.mcp.list sys.oauth.list sys.link.list
  proc.list proc.history proc.history.search proc.usage proc.spending proc.context proc.queue.list proc.session.list proc.approval.list proc.approval.history proc.approval.preview proc.profile.list proc.media.read proc.subscribe proc.unsubscribe proc.settings.get proc.conversation.get proc.conversation.list
  proc.conversation.segments proc.conversation.segment.read proc.conversation.policy.get
  ai.config ai.tools ai.skills pkg.list pkg.public.list pkg.remote.list sched.list sched.runs sched.preview sched.upcoming adapter.status notification.list notification.settings.get notification.push.list signal.list`;

/** An agent's own work: its conversations, its children, its notices. The calls that its children make are judged separately. */
export const OWN_WORK = `
  proc.send proc.ipc.send proc.ipc.call proc.conversation.open proc.conversation.close proc.conversation.fork proc.conversation.compact
  notification.create notification.mark_read notification.dismiss
  repo.create sys.workspace.create sys.workspace.update signal.unwatch codemode.exec codemode.run`;

/** Calls that no agent may make: deciding its own requests and settings, declaring its identity, connecting, setting up, signing a person in, and who gets push messages. */
export const NEVER = `
  proc.hil proc.approval.revoke proc.settings.set proc.setidentity proc.ipc.deliver
  sys.connect sys.setup sys.setup.assist sys.setup.check sys.signin.create sys.signin.get sys.signin.revoke sys.signin.redeem sys.link.consume
  notification.push.key notification.push.subscribe notification.push.update notification.push.unsubscribe notification.push.test
  notification.settings.set`;

/** Tags that make a command on the gateway need approval. The file system enforces where it may write. */
const WORTH_ASKING: Tag[] = ["opaque", "deletes", "connects", "elevates", "policy-bearing", "reads-secret"];

export const WRITES = ["fs.write", "fs.edit", "fs.upload", "fs.copy"];

const ATTENDED: Policy = {
  default: "ask",
  rules: [
    // A request to a model costs its owner money.
    { match: "sys.doctor", action: "ask", when: { argEquals: { tryModel: true } } },
    ...["fs.read", "fs.search", "fs.download", "fs.copy", "repo.read", "repo.search"].map((match): Rule => ({
      match,
      action: "ask",
      when: { anyTag: ["reads-secret"] },
    })),
    ...rulesFor(READS, "auto"),
    ...rulesFor(NEVER, "deny"),
    // Everybody can read a public repository.
    { match: "repo.create", action: "ask", when: { argEquals: { public: true } } },
    ...rulesFor(OWN_WORK, "auto"),
    // A child with another profile may be allowed more than its parent.
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

export function rulesFor(calls: string, action: Rule["action"]): Rule[] {
  return calls
    .trim()
    .split(/\s+/)
    .map((match) => ({ match, action }));
}

/** For work that starts without a person: nobody can be asked. */
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

/** Profiles that are not listed bring their own policy; without one they get the attended default. */
export function defaultPolicy(profile: string): PolicyResult {
  return { ok: true, policy: Object.hasOwn(POLICIES, profile) ? POLICIES[profile]! : ATTENDED };
}

const NEVER_CALLS: ReadonlySet<string> = new Set(NEVER.trim().split(/\s+/));

/** Whether no policy can allow this call: another one may have been written before the call existed. */
export function isNeverAllowed(call: string): boolean {
  return NEVER_CALLS.has(call);
}

const PURE_READS: ReadonlySet<string> = new Set(READS.trim().split(/\s+/));

export function isPureRead(call: string): boolean {
  return PURE_READS.has(call);
}

const NAMED: ReadonlySet<string> = new Set(ATTENDED.rules.map(({ match }) => match));

/**
 * Whether the default policy names this call, perhaps for a later version. A policy copied from it is then not refused as
 * misspelt.
 */
export function isNamedByDefault(call: string): boolean {
  return NAMED.has(call);
}
