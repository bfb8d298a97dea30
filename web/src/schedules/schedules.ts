// The user's schedules: one list for the list and for the page of each.

import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, describeError, type Result } from "../state/call.ts";
import { Latest } from "../state/latest.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { client, connectionCount, session } from "../state/session.ts";

export type Schedule = Result<"sched.list">["schedules"][number];
type SchedulePage = Result<"sched.list">;

const PAGE = 500;
/** More are not shown: who has so many reads them with gsv sched list. */
const SHOWN_MAX = 2_000;

export const isScheduleChange = makeChangeFilter("schedules");

export const schedules = new Latest<SchedulePage>(readAll, describeError);

/** Reads the list while the component is mounted, and again on every change. */
export function useSchedules(): void {
  useEffect(
    () =>
      effect(() => {
        if (connectionCount.value === 0) return;
        void schedules.refetch();
        return client.value?.onSignal((sent) => {
          if (isScheduleChange(sent)) void schedules.refetch();
        });
      }),
    [],
  );
}

async function readAll(): Promise<SchedulePage> {
  const ownerUid = session.peek()?.identity.process.uid;
  const all: Schedule[] = [];
  for (;;) {
    const args = { includeDisabled: true, limit: PAGE, offset: all.length, ...(ownerUid === undefined ? {} : { ownerUid }) };
    const { schedules: page, count } = await call("sched.list", args);
    all.push(...page);
    if (page.length === 0 || all.length >= Math.min(count, SHOWN_MAX)) return { schedules: all, count };
  }
}

/** The time zone of this browser, in which times of day are meant. */
export const TIMEZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Whether it was for one time, and has run. */
export function isOver({ enabled, expression, state }: Schedule): boolean {
  return !enabled && (expression.kind === "at" || expression.kind === "after") && state.lastRunAtMs !== null;
}

/** What the gateway says of an expression begins with a small letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
