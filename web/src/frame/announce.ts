// Everything that is announced on every screen: new questions, MCP servers that wait for a person, notifications, and that GSV can be
// installed.

import { showAppBadge } from "../install/app-badge.ts";
import { offerInstallation } from "../install/install.ts";
import { announceNotifications } from "./announce-notifications.ts";
import { announceQuestions } from "./announce-questions.ts";
import { announceServers } from "./announce-servers.ts";

/** Returns a function that stops it. */
export function announce(): () => void {
  const stops = [announceQuestions(), announceServers(), announceNotifications(), showAppBadge(), offerInstallation()];
  return () => {
    for (const stop of stops) stop();
  };
}
