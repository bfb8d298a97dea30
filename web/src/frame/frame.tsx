// The frame around every screen: the bar, one or two panes, what lies over them, and a quiet line while the gateway is away.

import { useEffect } from "preact/hooks";
import { phase } from "../state/session.ts";
import { fetchAhead } from "./prefetch.ts";
import { Bar } from "./bar.tsx";
import { register } from "./actions.ts";
import { attend } from "./attend.ts";
import { frameActions } from "./frame-actions.ts";
import { Help } from "./help.tsx";
import { listenForKeys } from "./keys.ts";
import { overlay } from "./overlay.ts";
import { Palette } from "./palette.tsx";
import { Pane } from "./pane.tsx";
import { activePane, address } from "./route.ts";
import "./frame.css";

export function Frame() {
  useEffect(() => register(frameActions()), []);
  useEffect(listenForKeys, []);
  useEffect(fetchAhead, []);
  useEffect(attend, []);
  const { main, beside } = address.value;
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={skip}>
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
      {overlay.value === "help" && <Help />}
    </div>
  );
}

/** Without a # in the address, which is the panes'. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}
