// Shows what an expression means.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { isTimezone } from "../../../lib/timezone.ts";
import { describeExpression } from "../../../schedules/describe.ts";
import { checkExpression, checkTimezone, listNextRuns } from "../../../schedules/next-run.ts";
import { parseWhen, splitWhen } from "../../../schedules/words.ts";
import { ScheduleExpression } from "../../../protocol/schedule-records.ts";
import type { ReadContext } from "../../context.ts";
import { listRunsOf } from "../../schedules/coming-runs.ts";
import { sayExpression } from "../../schedules/record.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "sched.preview",
  doc: 'Show when a schedule (id), an expression or words run, such as "every weekday at 9", "in 20 minutes" and "tomorrow 09:00": the expression they stand for, what it says in words, and its next runs. With isSentence, the words may be part of a sentence, such as "remind me to call mum tomorrow at 10"; rest is what remains of it. The first next run of a schedule is its nextRunAtMs; a disabled one has none. timezone is that of words with a time of day, and in which says shows an instant; by default the gateway\'s.',
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    id: z.string().min(1).max(128).optional(),
    expression: ScheduleExpression.optional(),
    words: z.string().trim().min(1).max(2_000).optional(),
    isSentence: z.boolean().default(false),
    timezone: z.string().min(1).max(64).optional(),
    count: z.int().min(1).max(20).default(3),
  }),
  result: z.object({
    expression: ScheduleExpression,
    says: z.string(),
    timezone: z.string(),
    nextRunsMs: z.array(z.number()),
    rest: z.string().optional(),
  }),
  fails: {
    400: "not exactly one of id, expression and words, or an expression that is not understood or never runs",
    404: "there is no such schedule of this user",
  },
  example: {
    args: { words: "every weekday at 8", timezone: "Europe/Berlin", count: 1 },
    result: {
      expression: { kind: "cron", expr: "0 8 * * 1-5", timezone: "Europe/Berlin" },
      says: "every weekday at 08:00 (Europe/Berlin)",
      timezone: "Europe/Berlin",
      nextRunsMs: [1763362800000],
    },
  },
  run({ schedules, config, now }, caller, { id, expression, words, isSentence, timezone: wanted, count }) {
    const timezone = wanted ?? gatewayTimezone(config);
    checkTimezone(timezone);
    if ([id, expression, words].filter((one) => one !== undefined).length !== 1) fail(400, "Give one of id, expression and words");
    if (id !== undefined) {
      const schedule = schedules.requireUsable(caller, id);
      const zone = chooseZone(schedule.expression, timezone);
      const says = sayExpression(schedule.expression, zone);
      return { expression: schedule.expression, says, timezone: zone, nextRunsMs: listRunsOf(schedule, now, count) };
    }
    const found = expression === undefined ? readWords(words!, isSentence, { now, timezone }) : { expression };
    checkExpression(found.expression, now);
    const zone = chooseZone(found.expression, timezone);
    return {
      ...found,
      says: describeExpression(found.expression, zone),
      timezone: zone,
      nextRunsMs: listNextRuns(found.expression, now, now, count),
    };
  },
});

function chooseZone(expression: ScheduleExpression, otherwise: string): string {
  return expression.kind === "cron" ? expression.timezone : otherwise;
}

function readWords(
  words: string,
  isSentence: boolean,
  around: { now: number; timezone: string },
): { expression: ScheduleExpression; rest?: string } {
  return (isSentence ? splitWhen(words, around) : null) ?? { expression: parseWhen(words, around) };
}

/** Root's setting, or UTC. */
export function gatewayTimezone(config: ReadContext["config"]): string {
  const named = config.get("config/server/timezone")?.trim() ?? "";
  return named !== "" && isTimezone(named) ? named : "UTC";
}
