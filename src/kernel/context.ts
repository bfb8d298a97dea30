// The context passed to a syscall body. Reads get readers, writes get nouns inside one transaction, effects get readers and
// change rows only through commit, finish and relaxed.

import type { Preparer } from "./agents/prepare.ts";
import type { SignalEmitter } from "./emit.ts";
import type { Net } from "../ports/net.ts";
import type { Vitals } from "../ports/vitals.ts";
import type { LIMITS } from "../protocol/limits.ts";
import type { AccountReads } from "./nouns/accounts.ts";
import type { CapabilityReads } from "./nouns/capabilities.ts";
import type { ConfigReads } from "./nouns/config.ts";
import type { ConnectionReads } from "./nouns/connections.ts";
import type { DeviceReads } from "./nouns/devices.ts";
import type { FileReads } from "./nouns/files.ts";
import type { Agents } from "./agents/agents.ts";
import type { Mcp } from "./mcp/mcp.ts";
import type { OAuth } from "./oauth/oauth.ts";
import type { ApprovalReads } from "./nouns/approvals.ts";
import type { FollowerReads } from "./nouns/followers.ts";
import type { Nouns } from "./nouns/nouns.ts";
import type { McpServerReads } from "./nouns/mcp-servers.ts";
import type { ModelFailureReads } from "./nouns/model-failures.ts";
import type { NotificationReads } from "./nouns/notifications.ts";
import type { NotificationLevelReads } from "./nouns/notification-levels.ts";
import type { PushSubscriptionReads } from "./nouns/push-subscriptions.ts";
import type { Push } from "./push/push.ts";
import type { ScheduleReads } from "./nouns/schedules.ts";
import type { ScheduleRunReads } from "./nouns/schedule-runs.ts";
import type { SignalWatchReads } from "./nouns/signal-watches.ts";
import type { SignInCodeReads } from "./nouns/sign-in-codes.ts";
import type { Scheduler } from "./schedules/scheduler.ts";
import type { IpcCalls } from "./nouns/ipc-calls.ts";
import type { OAuthAccountReads } from "./nouns/oauth-accounts.ts";
import type { OAuthFlowReads } from "./nouns/oauth-flows.ts";
import type { ProcessReads } from "./nouns/processes.ts";
import type { ProcessOriginReads } from "./nouns/process-origins.ts";
import type { ProcessSettingsReads } from "./nouns/process-settings.ts";
import type { ProcessSessions } from "./nouns/process-sessions.ts";
import type { Spending } from "./nouns/spending.ts";
import type { GroupReads } from "./nouns/groups.ts";
import type { RepositoryReads } from "./nouns/repositories.ts";
import type { Routes } from "./nouns/routes.ts";
import type { ShellSessions } from "./nouns/shell-sessions.ts";
import type { TokenReads } from "./nouns/tokens.ts";
import type { WorkspaceReads } from "./nouns/workspaces.ts";
import type { UsageReads } from "./nouns/usage.ts";
import type { Passwords } from "./identity/passwords.ts";
import type { Quotas } from "./files/quotas.ts";
import type { Transfers } from "./files/transfers.ts";
import type { Throttle } from "./nouns/throttle.ts";
import type { Timers } from "./nouns/timers.ts";
import type { Repos } from "./repos/repos.ts";
import type { ModelTrials } from "./setup/model-trials.ts";

/** Facts about this gateway that never change while it runs. */
export type GatewayFacts = { version: string; host: "node" | "cloudflare" | "memory"; startedAt: number; limits: typeof LIMITS };

/** Who may run sys.setup: anyone who can reach the socket, or the holder of a code, or nobody yet. */
export type SetupAccess = { open: true } | { open: false; code: string | null };

export type ReadContext = {
  now: number;
  about: GatewayFacts;
  accounts: AccountReads;
  groups: GroupReads;
  capabilities: CapabilityReads;
  tokens: TokenReads;
  config: ConfigReads;
  connections: ConnectionReads;
  devices: DeviceReads;
  routes: Pick<Routes, "nextDueAt" | "listIds" | "isEmpty">;
  shellSessions: Pick<ShellSessions, "get">;
  files: FileReads;
  usage: UsageReads;
  quotas: Quotas;
  repositories: RepositoryReads;
  workspaces: WorkspaceReads;
  processes: ProcessReads;
  processOrigins: ProcessOriginReads;
  processSettings: ProcessSettingsReads;
  processSessions: Pick<ProcessSessions, "listByProcess" | "listAwaited">;
  approvals: ApprovalReads;
  followers: FollowerReads;
  ipcCalls: Pick<IpcCalls, "findByRun" | "listDue" | "nextDueAt">;
  spending: Pick<Spending, "readToday" | "listDays">;
  modelFailures: ModelFailureReads;
  mcpServers: McpServerReads;
  oauthFlows: OAuthFlowReads;
  oauthAccounts: OAuthAccountReads;
  schedules: ScheduleReads;
  scheduleRuns: ScheduleRunReads;
  notifications: NotificationReads;
  notificationLevels: NotificationLevelReads;
  pushSubscriptions: PushSubscriptionReads;
  signalWatches: SignalWatchReads;
  signInCodes: SignInCodeReads;
};

/** Nouns that no syscall body writes: only run.ts, the sweeper and logins do. */
type KernelNouns = "results" | "timers" | "throttle" | "quotas";

export type WriteContext = Omit<Nouns, KernelNouns> & {
  now: number;
  about: GatewayFacts;
  /** Parts arm timers; what a timer is about may be removed by a call. */
  timers: Pick<Timers, "cancel">;
  emit: SignalEmitter;
  /** The action runs once the call has been answered, and never if the transaction fails. */
  after: (action: () => void) => void;
  /** Asks for a wake no later than this, once the call has been answered. */
  wakeBy: (dueAt: number | null) => void;
};

export type EffectContext = ReadContext & {
  passwords: Passwords;
  throttle: Throttle;
  setupAccess: SetupAccess;
  repos: Repos;
  copies: Transfers;
  /** What a process receives about the system when a run starts. */
  ai: Pick<Preparer, "listTools" | "readConfig">;
  agents: Agents;
  /** Tests models before they are configured, and runs the set-up guide. */
  trials: ModelTrials;
  vitals: Vitals;
  net: Net;
  mcp: Mcp;
  oauth: OAuth;
  scheduler: Scheduler;
  push: Pick<Push, "sendTest" | "originOf" | "checkAddress">;
  /** The request's idempotency key, prefixed with the caller's uid: for actors that store results themselves. */
  key: string | undefined;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  /** One transaction; resolves when it is durable. */
  commit: <T>(body: (nouns: WriteContext) => T) => Promise<T>;
  /** The last transaction of the call: its value is the call's result, stored under the request's key if it has one. */
  finish: <T>(body: (nouns: WriteContext) => T) => Promise<T>;
  /** For rows nobody was promised; does not wait for the disk. */
  relaxed: <T>(body: (nouns: WriteContext) => T) => T;
};
