// The number on the icon of the installed app: how many questions of agents wait for the user.

import { effect } from "@preact/signals";
import { ownQuestionCount } from "../state/approvals.ts";
import { isInstalledApp } from "./install.ts";

/** Returns a function that stops it. The number stays: it is for when the app is closed. */
export function showAppBadge(): () => void {
  if (!("setAppBadge" in navigator) || !isInstalledApp()) return () => {};
  return effect(() => {
    // Systems that show no numbers refuse it.
    void navigator.setAppBadge(ownQuestionCount.value).catch(() => {});
  });
}
