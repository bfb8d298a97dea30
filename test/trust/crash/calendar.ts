// What one lane has asked for that happens later or by itself: schedules, notifications and watches. After a crash everything
// acknowledged is there once, each time of a schedule ran at most once, its process was told once, and nothing is stuck.

import type { Calls } from "../../../src/client/client.ts";
import { pause } from "../devices/asker.ts";
import type { Lane } from "./lane.ts";
import { Register } from "./register.ts";

export type Schedule = Calls["sched.add"]["result"]["schedule"];
export type Run = Calls["sched.runs"]["result"]["runs"][number];
type Notification = Calls["notification.create"]["result"]["notification"];
type Watch = Calls["signal.list"]["result"]["watches"][number];

export type Planned = {
  name: string;
  isOnce: boolean;
  isKeyed: boolean;
  /** As acknowledged, or as first found. */
  schedule: Schedule | null;
  enabled: Register;
  removed: Register;
  /** Runs that were seen, by id: they stay. */
  runs: Map<string, Run>;
  /** Runs whose message was found. */
  told: Set<string>;
};
export type Note = { title: string; isKeyed: boolean; notificationId: string | null; state: Register };

const ANSWER = { timeoutMs: 30_000 };
const PAGE = 500;
const RUNS = 200;
/** More texts than the process gets between two checks. */
const TEXTS = 300;
const NOTES_MAX = 60;
/** How many processes a check reads. */
const READ_MAX = 8;
/** What the product promises for a restart is a third of it. */
const REST_MS = 15_000;
const FIELDS = ["id", "ownerUid", "name", "expression", "target", "catchUp", "notify", "createdAtMs"] as const;
const FIRED = /^\[process event: schedule\.event\] Schedule "[^"]*" \(([\w-]+)\) has fired\.[^]*?^Scheduled for: (\S+)\.$/m;
const WATCHED = /^\[process event: signal\.watch\][^]*?\(key (\S+)\)\.[^]*?```json\n"([^"]*)"\n```/;

/** What a lane sees at one moment. */
type View = {
  schedules: Schedule[];
  runs: Map<string, Run[]>;
  processes: { pid: string; label: string | null; state: string }[];
  /** What the user's own process was told. */
  texts: string[];
  notifications: Notification[];
  watches: Watch[];
};

export class Calendar {
  readonly #lane: Lane;
  readonly planned = new Map<string, Planned>();
  readonly notes: Note[] = [];
  /** The state of the lane's watch; null if there is none. */
  readonly watch: Register;
  readonly #told = new Set<string>();

  constructor(lane: Lane) {
    this.#lane = lane;
    this.watch = new Register(`watch ${lane.index}`, null);
  }

  /** Names of this lane end like this. */
  get suffix(): string {
    return `-lane${this.#lane.index}`;
  }

  plan(isOnce: boolean, isKeyed: boolean): Planned {
    const name = `s${this.#lane.model.stamp()}${this.suffix}`;
    const planned: Planned = {
      name,
      isOnce,
      isKeyed,
      schedule: null,
      enabled: new Register(`schedule ${name}`, "yes"),
      removed: new Register(`removal of ${name}`, "no"),
      runs: new Map(),
      told: new Set(),
    };
    this.planned.set(name, planned);
    return planned;
  }

  note(isKeyed: boolean): Note {
    const title = `n${this.#lane.model.stamp()}${this.suffix}`;
    const note: Note = { title, isKeyed, notificationId: null, state: new Register(title, "new") };
    this.notes.push(note);
    // Lists are limited.
    if (this.notes.length > NOTES_MAX) this.notes.shift();
    return note;
  }

  forget(note: Note): void {
    this.notes.splice(this.notes.indexOf(note), 1);
  }

  /** Call it only while no request is in progress. */
  async judge(): Promise<void> {
    const view = await this.#waitForRest();
    this.#judgeSchedules(view.schedules);
    this.#judgeNotes(view.notifications);
    this.#judgeWatch(view);
    for (const planned of this.planned.values()) {
      const runs = planned.schedule === null ? undefined : view.runs.get(planned.schedule.id);
      if (runs !== undefined) this.#judgeRuns(planned, runs, view);
    }
    await this.#judgeProcesses();
  }

  /** The gateway was down for long. `missed` has the first time that each schedule missed. */
  judgeMissed(missed: ReadonlyMap<string, number>): void {
    for (const { name, schedule, runs } of this.planned.values()) {
      const dueAt = schedule === null ? undefined : missed.get(schedule.id);
      if (dueAt === undefined) continue;
      const made = [...runs.values()].filter(({ dueAtMs }) => dueAtMs === dueAt).map(({ status }) => status);
      const wanted = schedule!.catchUp === "once" ? "ok" : "skipped";
      if (made.join() !== wanted) this.#violate("wrong", `schedule ${name} (${schedule!.catchUp}) missed ${dueAt}: ${made.join()}`);
    }
  }

  /** What there is once no run is stuck and every schedule that repeats has its next time. */
  async #waitForRest(): Promise<View> {
    for (const until = performance.now() + REST_MS; ; await pause(20)) {
      const view = await this.#look();
      const complaint = this.#findStuck(view);
      if (complaint === null) return view;
      if (performance.now() < until) continue;
      this.#violate("wrong", complaint);
      return view;
    }
  }

  #findStuck({ schedules, runs, processes }: View): string | null {
    const now = Date.now();
    for (const { id, name, enabled, state } of schedules) {
      if (enabled && (state.nextRunAtMs ?? 0) <= now) return `schedule ${name} has no next run: ${state.nextRunAtMs} at ${now}`;
      for (const { runId, status, pid } of runs.get(id) ?? []) {
        const process = processes.find((one) => one.pid === pid);
        if (status === "running" && (process === undefined || process.state === "idle"))
          return `run ${runId} of ${name} is ${status}, its process ${pid} is ${process?.state ?? "missing"}`;
      }
    }
    return null;
  }

  async #look(): Promise<View> {
    const { line, person } = this.#lane;
    const ask = line!.call.bind(line!);
    // In this order: what a run has done is looked at after the run.
    const schedules: Schedule[] = [];
    for (;;) {
      const args = { ownerUid: person.uid, includeDisabled: true, limit: PAGE, offset: schedules.length };
      const page = await ask("sched.list", args, ANSWER);
      schedules.push(...page.schedules);
      if (page.schedules.length < PAGE) break;
    }
    const own = schedules.filter(({ name }) => name.endsWith(this.suffix));
    const open = own.filter(({ name }) => !this.#isOver(this.planned.get(name)));
    const runs = await Promise.all(open.map(async ({ id }) => [id, (await ask("sched.runs", { id, limit: RUNS }, ANSWER)).runs] as const));
    const [{ processes }, { messages }, { notifications }, { watches }] = await Promise.all([
      ask("proc.list", {}, ANSWER),
      ask("proc.history", { pid: `init:${person.uid}`, tail: true, limit: TEXTS }, ANSWER),
      ask("notification.list", { includeDismissed: true, limit: PAGE }, ANSWER),
      ask("signal.list", {}, ANSWER),
    ]);
    const texts = messages.filter(({ role }) => role === "system").map(({ content }) => textOf(content));
    return { schedules: own, runs: new Map(runs), processes, texts, notifications, watches };
  }

  /** It will not run again, and what it did is known. */
  #isOver(planned: Planned | undefined): boolean {
    if (planned === undefined || !planned.isOnce) return false;
    const [run] = planned.runs.values();
    return run !== undefined && run.finishedAtMs !== null && planned.told.has(run.runId);
  }

  #judgeSchedules(listed: readonly Schedule[]): void {
    const byName = Map.groupBy(listed, ({ name }) => name);
    for (const planned of this.planned.values()) {
      const [found, ...more] = byName.get(planned.name) ?? [];
      if (more.length > 0) this.#violate("doubled", `schedule ${planned.name} is there ${more.length + 1} times`);
      if (found === undefined) this.#judgeAbsent(planned);
      else this.#judgeSchedule(planned, found);
    }
    for (const name of byName.keys())
      if (!this.planned.has(name)) this.#violate("revived", `schedule ${name}: nobody asked for it any more`);
  }

  #judgeAbsent({ name, schedule, isKeyed, removed }: Planned): void {
    if (schedule !== null && !removed.allows("yes")) this.#violate("lost", `schedule ${name} is gone`);
    if (schedule !== null || !isKeyed) this.planned.delete(name);
  }

  #judgeSchedule(planned: Planned, found: Schedule): void {
    const { name, schedule, removed, enabled, isOnce, runs } = planned;
    for (const field of schedule === null ? [] : FIELDS)
      if (JSON.stringify(schedule![field]) !== JSON.stringify(found[field]))
        this.#violate("lost", `schedule ${name}: ${field} was ${JSON.stringify(schedule![field])}, is ${JSON.stringify(found[field])}`);
    planned.schedule ??= found;
    if (!removed.settle("no")) this.#violate("revived", `schedule ${name} was removed and is there again`);
    const expected = enabled.expected();
    // One that runs once disables itself.
    if (!isOnce && !enabled.settle(found.enabled ? "yes" : "no"))
      this.#violate("lost", `schedule ${name}: expected enabled ${expected}, found ${found.enabled}: ${found.state.pausedBecause}`);
    if (found.state.runCount < runs.size - countSkipped(runs))
      this.#violate("lost", `schedule ${name} has run ${found.state.runCount} times`);
  }

  #judgeRuns({ name, schedule, isOnce, runs: seen, told }: Planned, runs: readonly Run[], view: View): void {
    const { id, target, enabled, notify } = { ...schedule!, enabled: view.schedules.find((one) => one.name === name)!.enabled };
    const times = runs.map(({ dueAtMs }) => dueAtMs);
    if (new Set(times).size < times.length) this.#violate("doubled", `schedule ${name} ran twice for a time: ${times.join()}`);
    if (isOnce && !enabled && runs.length !== 1) this.#violate("lost", `schedule ${name} is over with ${runs.length} runs`);
    for (const run of runs) {
      if (run.status === "error") this.#violate("wrong", `schedule ${name} failed: ${run.error}`);
      const before = seen.get(run.runId);
      if (before !== undefined && (before.dueAtMs !== run.dueAtMs || (before.finishedAtMs ?? run.finishedAtMs) !== run.finishedAtMs))
        this.#violate("lost", `a run of ${name} was ${JSON.stringify(before)}, is ${JSON.stringify(run)}`);
    }
    const ids = new Set(runs.map(({ runId }) => runId));
    for (const { runId } of seen.values())
      if (runs.length < RUNS && !ids.has(runId)) this.#violate("lost", `run ${runId} of ${name} is gone`);
    for (const run of runs) seen.set(run.runId, run);
    if (target.kind === "process.event") this.#judgeTexts(name, id, runs, told, view.texts);
    else this.#judgePids(name, runs, view);
    if (notify === "all" && runs[0]?.status === "ok") {
      const count = view.notifications.filter(({ title }) => title === name).length;
      if (count !== 1) this.#violate(count === 0 ? "lost" : "doubled", `there are ${count} notifications of the run of ${name}`);
    }
  }

  /** The process that schedules tell has each time at most once, and each that has run. */
  #judgeTexts(name: string, id: string, runs: readonly Run[], told: Set<string>, texts: readonly string[]): void {
    const times = texts.flatMap((text) => {
      const [, of, at] = FIRED.exec(text) ?? [];
      return of === id ? [Date.parse(at!)] : [];
    });
    for (const at of new Set(times)) {
      const count = times.filter((one) => one === at).length;
      if (count > 1) this.#violate("doubled", `schedule ${name} told its process ${count} times of ${at}`);
      const run = runs.find(({ dueAtMs }) => dueAtMs === at);
      if (run === undefined && runs.length < RUNS)
        this.#violate("doubled", `schedule ${name} told its process of ${at}, and no run says so`);
      if (run?.status === "skipped") this.#violate("doubled", `schedule ${name} told its process of ${at}, which was skipped`);
      if (run !== undefined) told.add(run.runId);
    }
    for (const { runId, status, dueAtMs } of runs)
      if (status === "ok" && !told.has(runId)) this.#violate("lost", `schedule ${name} never told its process of ${dueAtMs}`);
  }

  /** It has started no process that no run knows. */
  #judgePids(name: string, runs: readonly Run[], { processes }: View): void {
    if (runs.length === RUNS) return;
    const known = new Set(runs.map(({ pid }) => pid));
    for (const { pid, label } of processes)
      if (label === name && !known.has(pid)) this.#violate("doubled", `schedule ${name} started process ${pid}, and no run says so`);
  }

  /** Each process that was started has its prompt once. */
  async #judgeProcesses(): Promise<void> {
    const ended = [...this.planned.values()].flatMap(({ name, schedule, runs, told }) =>
      schedule?.target.kind !== "process.spawn"
        ? []
        : [...runs.values()].filter(({ status, runId }) => status === "ok" && !told.has(runId)).map((run) => ({ name, told, run })),
    );
    await Promise.all(
      ended.slice(-READ_MAX).map(async ({ name, told, run: { runId, pid } }) => {
        const { messages } = await this.#lane.line!.call("proc.history", { pid: pid! }, ANSWER);
        const count = messages.filter(({ role }) => role === "user").length;
        told.add(runId);
        if (count !== 1) this.#violate(count === 0 ? "lost" : "doubled", `process ${pid} of ${name} has ${count} prompts`);
      }),
    );
  }

  #judgeNotes(listed: readonly Notification[]): void {
    const byTitle = Map.groupBy(listed, ({ title }) => title);
    for (const note of this.notes.slice()) {
      const [found, ...more] = byTitle.get(note.title) ?? [];
      if (more.length > 0) this.#violate("doubled", `notification ${note.title} is there ${more.length + 1} times`);
      if (found === undefined) {
        if (note.notificationId !== null) this.#violate("lost", `notification ${note.title} is gone`);
        if (!note.isKeyed) this.forget(note);
        continue;
      }
      note.notificationId ??= found.notificationId;
      const expected = note.state.expected();
      const state = found.dismissedAt !== null ? "dismissed" : found.readAt !== null ? "read" : "new";
      if (!note.state.settle(state)) this.#violate("lost", `notification ${note.title}: expected ${expected}, found ${state}`);
    }
  }

  /** The lane's watch is there as it was last set, or it has told the process of a signal, once. */
  #judgeWatch({ watches, texts }: View): void {
    const told = texts.flatMap((text) => {
      const [, key, state] = WATCHED.exec(text) ?? [];
      return key === this.watchKey ? [state!] : [];
    });
    for (const state of new Set(told)) {
      const count = told.filter((one) => one === state).length;
      if (count > 1) this.#violate("doubled", `watch ${this.watchKey} told its process ${count} times of ${state}`);
      this.#told.add(state);
    }
    const found = watches.find(({ key }) => key === this.watchKey);
    if (found?.status === "failed") return this.#violate("wrong", `watch ${this.watchKey} has failed: ${found.error}`);
    const state = found === undefined ? null : String(found.state);
    const isSpent = state === null && this.watch.values().some((one) => one !== null && this.#told.has(one));
    const expected = this.watch.expected();
    if (!this.watch.settle(state) && !isSpent) this.#violate("lost", `watch ${this.watchKey}: expected ${expected}, found ${state}`);
  }

  get watchKey(): string {
    return `watch${this.suffix}`;
  }

  #violate(kind: Parameters<Lane["model"]["oracle"]["violate"]>[0], text: string): void {
    this.#lane.model.oracle.violate(kind, text);
  }
}

function countSkipped(runs: ReadonlyMap<string, Run>): number {
  return [...runs.values()].filter(({ status }) => status === "skipped").length;
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : String((content as { text?: unknown }).text);
}
