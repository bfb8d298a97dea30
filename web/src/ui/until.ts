// A time in the future as people say it, in the zone of the browser: "14:00", "tomorrow 14:00", "23 Nov, 14:00".

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

export function formatUntil(at: number, now = Date.now()): string {
  const time = clock.format(at);
  const dayOf = (moment: number) => new Date(moment).toDateString();
  if (dayOf(at) === dayOf(now)) return time;
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  return dayOf(at) === tomorrow.toDateString() ? `tomorrow ${time}` : `${day.format(at)}, ${time}`;
}
