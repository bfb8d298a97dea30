// Makes all nouns over one database. context.ts defines which of them the body of a call may read or write.

import type { Ports } from "../../ports/ports.ts";
import { Quotas } from "../files/quotas.ts";
import type { Transactor } from "../transactor.ts";
import { Accounts } from "./accounts.ts";
import { Approvals } from "./approvals.ts";
import { Cancellations } from "./cancellations.ts";
import { Capabilities } from "./capabilities.ts";
import { Config } from "./config.ts";
import { Connections } from "./connections.ts";
import { Devices } from "./devices.ts";
import { Files } from "./files.ts";
import { Followers } from "./followers.ts";
import { Groups } from "./groups.ts";
import { IpcCalls } from "./ipc-calls.ts";
import { McpServers } from "./mcp-servers.ts";
import { ModelFailures } from "./model-failures.ts";
import { Notifications } from "./notifications.ts";
import { NotificationLevelsOfUsers } from "./notification-levels.ts";
import { OAuthAccounts } from "./oauth-accounts.ts";
import { OAuthFlows } from "./oauth-flows.ts";
import { Processes } from "./processes.ts";
import { ProcessOrigins } from "./process-origins.ts";
import { ProcessSettings } from "./process-settings.ts";
import { ProcessSessions } from "./process-sessions.ts";
import { PushSubscriptions } from "./push-subscriptions.ts";
import { Repositories } from "./repositories.ts";
import { Results } from "./results.ts";
import { Routes } from "./routes.ts";
import { ScheduleRuns } from "./schedule-runs.ts";
import { Schedules } from "./schedules.ts";
import { ShellSessions } from "./shell-sessions.ts";
import { SignalWatches } from "./signal-watches.ts";
import { SignInCodes } from "./sign-in-codes.ts";
import { Spending } from "./spending.ts";
import { Throttle } from "./throttle.ts";
import { Timers } from "./timers.ts";
import { Tokens } from "./tokens.ts";
import { Usage } from "./usage.ts";
import { Workspaces } from "./workspaces.ts";

export type Nouns = ReturnType<typeof makeNouns>;

/** `transactor` runs the transactions on these rows; `defaults` is the configuration for keys that are not set. */
export function makeNouns(ports: Ports, transactor: Transactor, defaults: ReadonlyMap<string, string>) {
  const { sql, crypto, sockets, clock, vitals } = ports;
  const usage = new Usage(sql);
  const groups = new Groups(sql);
  const capabilities = new Capabilities(sql);
  const config = new Config(sql, crypto, defaults);
  const accounts = new Accounts(sql, groups);
  return {
    accounts,
    groups,
    capabilities,
    tokens: new Tokens(sql, crypto),
    config,
    connections: new Connections(sql, sockets, transactor, accounts, capabilities),
    devices: new Devices(
      sql,
      {
        nameOf: (uid) => accounts.findByUid(uid)?.username ?? String(uid),
        uidOf: (username) => accounts.findByName(username)?.uid,
      },
      (connectionId) => sockets.lastHeardAt(connectionId),
      () => clock.now(),
    ),
    routes: new Routes(sql),
    shellSessions: new ShellSessions(sql),
    files: new Files(sql, usage),
    usage,
    quotas: new Quotas(config, accounts, usage, vitals.storageBytes),
    repositories: new Repositories(sql, accounts, usage),
    workspaces: new Workspaces(sql, crypto),
    processes: new Processes(sql),
    processOrigins: new ProcessOrigins(sql),
    processSettings: new ProcessSettings(sql),
    processSessions: new ProcessSessions(sql),
    cancellations: new Cancellations(sql),
    approvals: new Approvals(sql),
    followers: new Followers(sql),
    ipcCalls: new IpcCalls(sql),
    spending: new Spending(sql),
    modelFailures: new ModelFailures(sql),
    mcpServers: new McpServers(sql, crypto),
    oauthFlows: new OAuthFlows(sql, crypto),
    oauthAccounts: new OAuthAccounts(sql, crypto),
    schedules: new Schedules(sql, crypto),
    scheduleRuns: new ScheduleRuns(sql),
    notifications: new Notifications(sql, crypto),
    notificationLevels: new NotificationLevelsOfUsers(sql),
    pushSubscriptions: new PushSubscriptions(sql, crypto),
    signalWatches: new SignalWatches(sql, crypto),
    signInCodes: new SignInCodes(sql, crypto),
    results: new Results(sql, crypto),
    throttle: new Throttle(sql, crypto),
    timers: new Timers(sql),
  };
}
