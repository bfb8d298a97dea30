// The frame around every screen: the bar, one or two panes, the overlays, and a status line while the connection is lost.

import { useEffect } from "preact/hooks";
import { phase } from "../state/session.ts";
import { prefetchScreens } from "./prefetch.ts";
import { Bar } from "./bar.tsx";
import { registerActions } from "./actions.ts";
import { announceNotifications } from "./announce-notifications.ts";
import { announceQuestions } from "./announce-questions.ts";
import { announceServers } from "./announce-servers.ts";
import { makeFrameActions } from "./frame-actions.ts";
import { KeyboardHelp } from "./keyboard-help.tsx";
import { listenForKeys } from "./keyboard.ts";
import { overlay } from "./overlay.ts";
import { Palette } from "./palette.tsx";
import { Pane } from "./pane.tsx";
import { activePane, address } from "./route.ts";
import "./frame.css";

export function Frame() {
  useEffect(() => registerActions(makeFrameActions()), []);
  useEffect(listenForKeys, []);
  useEffect(prefetchScreens, []);
  useEffect(announceQuestions, []);
  useEffect(announceServers, []);
  useEffect(announceNotifications, []);
  const { main, beside } = address.value;
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={skipToContent}>
        Skip to content
      </a>
      <Bar />
      <main class="panes" id="content" tabIndex={-1} data-active={activePane.value} data-count={beside === null ? 1 : 2}>
        {phase.value === "lost" && (
          <p class="away" role="status">
            Connection lost. Coming back by itself; what you see may be old.
          </p>
        )}
        <Pane name="main" path={main} key="main" />
        {beside !== null && <Pane name="beside" path={beside} key="beside" />}
      </main>
      {overlay.value === "palette" && <Palette />}
      {overlay.value === "help" && <KeyboardHelp />}
    </div>
  );
}

/** Does not change the URL, which holds the state of the panes. */
function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}
