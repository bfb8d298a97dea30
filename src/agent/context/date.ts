// The date without the time: a prompt that changes every minute would miss every provider's cache. It comes last for the same
// reason; `date` in the shell tells the time.

import { isTimezone } from "../../lib/timezone.ts";
import type { Section } from "./section.ts";

export function makeDateSections(now: number, timezone: string): Section[] {
  const zone = isTimezone(timezone) ? timezone : "UTC";
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: zone }).format(now);
  return [{ name: "date", text: `Today is ${day} (${zone}).`, cut: 0 }];
}
