// Schedules with their runs, notifications and the browsers they are pushed to, and watches for signals. Rows may be large, so the tables have rowids (015).

export const time = {
  version: 17,
  statements: [
    // next_at: the time that it runs for next. wake_at: when the kernel looks at it; null while it waits for its run. queued_at: since when
    // it is due and waits. counted_at: when next_at was computed, which shows that the clock was set back. target_by: who set the target.
    // run_id: its unfinished run. failures: in a row. ended_at: when its only time was used up, or it ran last after that. has_spares:
    // whether its processes may be used by other schedules then.
    `CREATE TABLE schedules (
       schedule_id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, creator TEXT NOT NULL, name TEXT NOT NULL, description TEXT,
       enabled INTEGER NOT NULL, expression TEXT NOT NULL, target TEXT NOT NULL, target_size INTEGER NOT NULL, target_by TEXT NOT NULL,
       catch_up TEXT NOT NULL, notify TEXT NOT NULL, anchor_at INTEGER NOT NULL, next_at INTEGER, wake_at INTEGER, queued_at INTEGER,
       counted_at INTEGER NOT NULL, sort_at INTEGER NOT NULL, ended_at INTEGER, has_spares INTEGER NOT NULL, run_id TEXT,
       running_at INTEGER, last_run_at INTEGER, last_status TEXT, last_error TEXT, last_ms INTEGER, run_count INTEGER NOT NULL,
       failures INTEGER NOT NULL, paused_because TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`,
    "CREATE INDEX schedules_of ON schedules (uid, sort_at, updated_at DESC)",
    "CREATE INDEX schedules_all ON schedules (sort_at, updated_at DESC, schedule_id)",
    "CREATE INDEX schedules_due ON schedules (wake_at) WHERE wake_at IS NOT NULL AND queued_at IS NULL",
    "CREATE INDEX schedules_queued ON schedules (uid, wake_at, schedule_id) WHERE wake_at IS NOT NULL AND queued_at IS NOT NULL",
    "CREATE INDEX schedules_counted ON schedules (counted_at) WHERE enabled = 1 AND next_at IS NOT NULL",
    "CREATE INDEX schedules_size ON schedules (uid, target_size)",
    "CREATE INDEX schedules_ended ON schedules (ended_at) WHERE ended_at IS NOT NULL",
    "CREATE INDEX schedules_spares ON schedules (uid, ended_at) WHERE ended_at IS NOT NULL AND has_spares = 1",
    // The ledger: a row is written before its effect. Of the runs for a time (is_forced = 0) there is one per time. target, target_by: what
    // it does, until that has happened, and who said so. made_of: what its process was made of. retry_at: when a start is tried again.
    `CREATE TABLE schedule_runs (
       run_id TEXT NOT NULL PRIMARY KEY, schedule_id TEXT NOT NULL, uid INTEGER NOT NULL, due_at INTEGER NOT NULL, is_forced INTEGER NOT NULL,
       started_at INTEGER NOT NULL, finished_at INTEGER, state TEXT NOT NULL, error TEXT, summary TEXT, pid TEXT, conversation_id TEXT,
       missed INTEGER NOT NULL, target TEXT, target_by TEXT, made_of TEXT, retry_at INTEGER NOT NULL DEFAULT 0) STRICT`,
    "CREATE UNIQUE INDEX schedule_runs_slot ON schedule_runs (schedule_id, due_at) WHERE is_forced = 0",
    "CREATE INDEX schedule_runs_of ON schedule_runs (schedule_id, started_at DESC)",
    "CREATE INDEX schedule_runs_user ON schedule_runs (uid, started_at)",
    "CREATE INDEX schedule_runs_age ON schedule_runs (started_at)",
    "CREATE INDEX schedule_runs_starting ON schedule_runs (retry_at) WHERE state = 'starting'",
    "CREATE INDEX schedule_runs_running ON schedule_runs (pid) WHERE state = 'running'",
    // about: what a notification of the kernel is about; a newer one about the same replaces it.
    `CREATE TABLE notifications (
       notification_id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, title TEXT NOT NULL, body TEXT, level TEXT NOT NULL,
       source TEXT NOT NULL, is_kernel INTEGER NOT NULL, actions TEXT NOT NULL, about TEXT, created_at INTEGER NOT NULL, read_at INTEGER, dismissed_at INTEGER,
       expires_at INTEGER NOT NULL) STRICT`,
    "CREATE INDEX notifications_of ON notifications (uid, created_at DESC)",
    "CREATE INDEX notifications_room ON notifications (uid, is_kernel, created_at DESC)",
    "CREATE INDEX notifications_unread ON notifications (uid, created_at DESC) WHERE read_at IS NULL AND dismissed_at IS NULL",
    "CREATE INDEX notifications_about ON notifications (uid, about) WHERE about IS NOT NULL",
    "CREATE INDEX notifications_age ON notifications (expires_at)",
    // Which notifications interrupt a user, by origin.
    "CREATE TABLE notification_levels (uid INTEGER NOT NULL PRIMARY KEY, levels TEXT NOT NULL) STRICT",
    // token_id: of the browser's sign-in, with which the subscription ends. sealed: its address at the push service, and its keys.
    // retry_at: nothing is sent before.
    `CREATE TABLE push_subscriptions (
       subscription_id TEXT NOT NULL PRIMARY KEY, uid INTEGER NOT NULL, token_id TEXT NOT NULL, endpoint_hash TEXT NOT NULL UNIQUE,
       sealed TEXT NOT NULL, service TEXT NOT NULL, origin TEXT NOT NULL, label TEXT NOT NULL, level TEXT NOT NULL, may_allow INTEGER NOT NULL,
       created_at INTEGER NOT NULL, last_sent_at INTEGER, last_error TEXT, failures INTEGER NOT NULL, retry_at INTEGER NOT NULL) STRICT`,
    "CREATE INDEX push_subscriptions_of ON push_subscriptions (uid, created_at)",
    // Messages that are not yet sent. priority: the higher is sent first, and kept longer.
    `CREATE TABLE push_deliveries (
       delivery_id INTEGER PRIMARY KEY AUTOINCREMENT, subscription_id TEXT NOT NULL, uid INTEGER NOT NULL, notification_id TEXT NOT NULL,
       priority INTEGER NOT NULL, queued_at INTEGER NOT NULL) STRICT`,
    "CREATE INDEX push_deliveries_of ON push_deliveries (subscription_id, priority DESC, delivery_id)",
    // The gateway's own keys: one row. public_key: what browsers know this gateway by.
    "CREATE TABLE push_keys (id INTEGER NOT NULL PRIMARY KEY, public_key TEXT NOT NULL, sealed TEXT NOT NULL) STRICT",
    // A watch that replaces another one has its id and is another row. One that was replaced or removed has expires_at = 0, and stays until
    // what it matched is delivered. pid: the process that is told. source_pid: the process whose signals it waits for; null for any.
    // window: matches of one minute. data: last, because matching does not read it.
    `CREATE TABLE signal_watches (
       row_id INTEGER PRIMARY KEY AUTOINCREMENT, watch_id TEXT NOT NULL, uid INTEGER NOT NULL, pid TEXT NOT NULL, signal TEXT NOT NULL,
       source_pid TEXT, key TEXT, once INTEGER NOT NULL, state TEXT NOT NULL, error TEXT, created_at INTEGER NOT NULL,
       updated_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, window_at INTEGER NOT NULL, window_count INTEGER NOT NULL,
       data_size INTEGER NOT NULL, data TEXT) STRICT`,
    "CREATE INDEX signal_watches_match ON signal_watches (uid, signal)",
    "CREATE UNIQUE INDEX signal_watches_key ON signal_watches (pid, key) WHERE key IS NOT NULL AND expires_at > 0",
    "CREATE INDEX signal_watches_of ON signal_watches (uid, created_at)",
    "CREATE INDEX signal_watches_size ON signal_watches (uid, expires_at, data_size)",
    "CREATE INDEX signal_watches_age ON signal_watches (expires_at)",
    // Signals that were matched, once each, and the processes that have yet to be told of them, in order. watch_row: of signal_watches.
    `CREATE TABLE signal_events (
       event_id INTEGER PRIMARY KEY, source_pid TEXT NOT NULL, signal TEXT NOT NULL, payload TEXT NOT NULL, is_cut INTEGER NOT NULL) STRICT`,
    `CREATE TABLE signal_deliveries (
       delivery_id INTEGER PRIMARY KEY AUTOINCREMENT, event_id INTEGER NOT NULL, watch_row INTEGER NOT NULL, uid INTEGER NOT NULL,
       pid TEXT NOT NULL, run_id TEXT NOT NULL, matched_at INTEGER NOT NULL) STRICT`,
    "CREATE INDEX signal_deliveries_of ON signal_deliveries (uid, pid, delivery_id)",
    "CREATE INDEX signal_deliveries_event ON signal_deliveries (event_id)",
    "CREATE INDEX signal_deliveries_watch ON signal_deliveries (watch_row)",
  ],
} as const;
