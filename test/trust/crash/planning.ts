// The workload's calls about what happens later: schedules that run soon and often, notifications, and a watch. Each tells the calendar of
// its lane what it may change before it is sent.

import type { Calls } from "../../../src/client/client.ts";
import type { Note, Planned, Schedule } from "./calendar.ts";
import { SELDOM_MS } from "./downtime.ts";
import type { Lane } from "./lane.ts";
import type { Op } from "./model.ts";
import type { Random } from "./random.ts";
import type { Register } from "./register.ts";

/** How much one lane may add in one cycle. */
const CYCLE_QUOTA = { schedules: 2, notes: 4 };
/** All schedules of a user together stay below the gateway's limit of runs in a minute. */
const SINGLE_CHANCE = 0.5;
const REPEATING_MAX = 3;
const OFTEN = { kind: "every", everyMs: 4_000 };
const SELDOM = { kind: "every", everyMs: SELDOM_MS };
const EACH_MINUTE = { kind: "cron", expr: "* * * * *", timezone: "Europe/Berlin" };
/** A request may have to wait for this long before it is too late to plan. */
const AT_MS = 8_000;

export class Planning {
  readonly #lane: Lane;
  readonly #random: Random;
  readonly #left = { ...CYCLE_QUOTA, singles: 0 };

  constructor(lane: Lane, random: Random) {
    this.#lane = lane;
    this.#random = random;
    this.#left.singles = random.chance(SINGLE_CHANCE) ? 1 : 0;
  }

  /** Undefined if there is nothing to do right now. */
  next(): Op | undefined {
    const roll = this.#random.next();
    if (roll < 0.3) return this.#add();
    if (roll < 0.45) return this.#toggle();
    if (roll < 0.5) return this.#remove();
    if (roll < 0.65) return this.#notify();
    if (roll < 0.85) return this.#changeNote();
    return this.#random.chance(0.8) ? this.#watch() : this.#unwatch();
  }

  #add(): Op | undefined {
    const { calendar, person, index } = this.#lane;
    const random = this.#random;
    const repeating = [...calendar.planned.values()].filter(({ isOnce }) => !isOnce);
    const isOnce = repeating.length > 0 && (repeating.length >= REPEATING_MAX || random.chance(0.6));
    if (isOnce ? this.#left.singles-- <= 0 : this.#left.schedules-- <= 0) return undefined;
    const isSoon = isOnce && random.chance(0.7);
    // A time that has passed is refused when the request is repeated.
    const isKeyed = (!isOnce || isSoon) && random.chance(0.4);
    const planned = calendar.plan(isOnce, isKeyed);
    // Of the two lanes of a user, one has a schedule that runs often.
    const isOften = repeating.length === 0 && index % 2 === 0;
    const repeats = isOften ? OFTEN : random.chance(0.5) ? SELDOM : EACH_MINUTE;
    const soon = { kind: "after", afterMs: random.int(100, 1_500) };
    const later = { kind: "at", atMs: Date.now() + AT_MS + random.int(0, 5_000) };
    const expression = isSoon ? soon : isOnce ? later : repeats;
    const target =
      isOften !== random.chance(0.5)
        ? { kind: "process.event", pid: `init:${person.uid}`, message: "help" }
        : { kind: "process.spawn", prompt: "help" };
    const args = { name: planned.name, expression, target, catchUp: random.chance(0.5) ? "once" : "skip", notify: isOnce ? "all" : "none" };
    return this.#op("sched.add", args, isKeyed, {
      acked: (data) => this.#recordAdded(planned, (data as Calls["sched.add"]["result"]).schedule),
      undone: () => void (isKeyed || calendar.planned.delete(planned.name)),
    });
  }

  #recordAdded(planned: Planned, schedule: Schedule): void {
    if (planned.schedule !== null && planned.schedule.id !== schedule.id)
      this.#lane.model.oracle.violate("doubled", `schedule ${planned.name} was ${planned.schedule.id}, is ${schedule.id}`);
    planned.schedule ??= schedule;
  }

  #toggle(): Op | undefined {
    const planned = this.#pickRepeating();
    if (planned === undefined) return undefined;
    const { enabled: register, schedule } = planned;
    const enabled = register.newest !== "yes";
    const isSet = (data: unknown) => (data as Calls["sched.update"]["result"]).schedule.enabled === enabled;
    return this.#change(register, enabled ? "yes" : "no", "sched.update", { id: schedule!.id, patch: { enabled } }, isSet);
  }

  #remove(): Op | undefined {
    const planned = this.#pickRepeating();
    if (planned === undefined || this.#random.chance(0.5)) return undefined;
    const isRemoved = (data: unknown) => (data as Calls["sched.remove"]["result"]).removed;
    return this.#change(planned.removed, "yes", "sched.remove", { id: planned.schedule!.id }, isRemoved);
  }

  /** One that no request changes. */
  #pickRepeating(): Planned | undefined {
    const all = [...this.#lane.calendar.planned.values()].filter(
      ({ isOnce, schedule, enabled, removed }) =>
        !isOnce && schedule !== null && enabled.isSettled && removed.isSettled && removed.newest === "no",
    );
    return this.#random.pick(all);
  }

  #notify(): Op | undefined {
    if (this.#left.notes-- <= 0) return undefined;
    const { calendar } = this.#lane;
    const isKeyed = this.#random.chance(0.4);
    const note = calendar.note(isKeyed);
    return this.#op("notification.create", { title: note.title, body: "on purpose" }, isKeyed, {
      acked: (data) => void (note.notificationId ??= (data as Calls["notification.create"]["result"]).notification.notificationId),
      undone: () => void (isKeyed || calendar.forget(note)),
    });
  }

  #changeNote(): Op | undefined {
    const note = this.#random.pick(this.#lane.calendar.notes.slice(-10));
    if (note?.notificationId == null || !note.state.isSettled || note.state.newest === "dismissed") return undefined;
    return this.#random.chance(0.5) && note.state.newest === "new"
      ? this.#setNote(note, "read", "notification.mark_read")
      : this.#setNote(note, "dismissed", "notification.dismiss");
  }

  #setNote({ notificationId, state }: Note, to: string, call: "notification.mark_read" | "notification.dismiss"): Op {
    const isDone = (data: unknown) => (data as Calls["notification.dismiss"]["result"]).notification?.notificationId === notificationId;
    return this.#change(state, to, call, { notificationId }, isDone);
  }

  /** For the end of any run of any other process of the user: it tells once. */
  #watch(): Op {
    const { watch, watchKey } = this.#lane.calendar;
    const state = `w${this.#lane.model.stamp()}`;
    const version = watch.send(() => state);
    return this.#setWatch("signal.watch", { signal: "proc.run.finished", key: watchKey, state }, version);
  }

  #unwatch(): Op {
    const { watch, watchKey } = this.#lane.calendar;
    return this.#setWatch(
      "signal.unwatch",
      { key: watchKey },
      watch.send(() => null),
    );
  }

  /** Without a key: a repeat would bring back a watch that has told its process. */
  #setWatch(call: Op["call"], args: Op["args"], version: number): Op {
    const { watch } = this.#lane.calendar;
    return this.#op(call, args, false, { acked: () => watch.ack(version), undone: () => watch.undo(version) });
  }

  #change(register: Register, to: string | null, call: Op["call"], args: Op["args"], isRight: (data: unknown) => boolean): Op {
    let version = register.send(() => to);
    return this.#op(call, args, this.#random.chance(0.4), {
      acked: (data) => {
        if (!isRight(data)) this.#lane.model.oracle.violate("wrong", `${call} for ${register.name}: ${JSON.stringify(data)}`);
        register.ack(version);
      },
      undone() {
        register.undo(version);
        version = Infinity;
      },
      again() {
        if (version > register.floor) version = register.send(() => to);
      },
    });
  }

  #op(call: Op["call"], args: Op["args"], isKeyed: boolean, means: Partial<Op> & Pick<Op, "acked">): Op {
    const key = isKeyed ? `k${this.#lane.model.stamp()}` : undefined;
    return { call, args, key, lane: this.#lane.index, answer: null, undone() {}, again() {}, ...means };
  }
}
