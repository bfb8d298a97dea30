// The frame around every screen: the bar, one or two panes, the overlays, and a status line while the connection is lost.

import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { connectionCount, phase } from "../state/session.ts";
import { prefetchScreens } from "./prefetch.ts";
import { Bar } from "./bar.tsx";
import { registerActions } from "./actions.ts";
import { makeFrameActions } from "./frame-actions.ts";
import { Lazy } from "./lazy.tsx";
import { listenForKeys } from "./keyboard.ts";
import { overlay } from "./overlay.ts";
import { Pane } from "./pane.tsx";
import { activePane, address } from "./route.ts";
import "./frame.css";

const OVERLAYS = {
  find: () => import("../find/find.tsx"),
  help: () => import("./keyboard-help.tsx"),
  more: () => import("./more-sheet.tsx"),
  "sign-in": () => import("../sign-in/sign-in-dialog.tsx"),
};

export function Frame() {
  useEffect(() => registerActions(makeFrameActions()), []);
  useEffect(listenForKeys, []);
  useEffect(() => prefetchScreens(Object.values(OVERLAYS)), []);
  useEffect(announceWhatIsNew, []);
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
            Connection lost. Reconnecting…
          </p>
        )}
        <Pane name="main" path={main} key="main" />
        {beside !== null && <Pane name="beside" path={beside} key="beside" />}
      </main>
      {overlay.value !== null && <Lazy load={OVERLAYS[overlay.value]} props={{}} key={overlay.value} />}
    </div>
  );
}

/** Loaded after the first screen, which it must not delay. */
function announceWhatIsNew(): () => void {
  let stop: (() => void) | null = null;
  let isStopped = false;
  const stopTrying = effect(() => {
    if (connectionCount.value === 0 || stop !== null) return;
    import("./announce.ts").then(
      ({ announce }) => {
        if (!isStopped) stop ??= announce();
      },
      // The gateway is away, and the next connection tries again, or it is newer than the page: Lazy says so for the screen.
      () => {},
    );
  });
  return () => {
    isStopped = true;
    stopTrying();
    stop?.();
  };
}

/** Does not change the URL, which holds the state of the panes. */
function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}
