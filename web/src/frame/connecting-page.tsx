// Shown until the gateway has answered for the first time.

import { useEffect, useState } from "preact/hooks";
import { phase } from "../state/session.ts";
import { Banner } from "../ui/banner.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { SingleCardPage } from "./single-card-page.tsx";

/** A reachable gateway usually answers sooner; the delay avoids a flicker. */
const DELAY_MS = 400;

export function ConnectingPage() {
  const [isDelayed, setDelayed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  if (phase.value === "lost")
    return (
      <SingleCardPage title="The gateway does not answer">
        <Banner tone="warn">Check that it is running and that this device is online. This page continues when it answers.</Banner>
        <Spinner label="Reconnecting…" />
      </SingleCardPage>
    );
  return isDelayed ? (
    <SingleCardPage title="GSV">
      <Spinner label="Connecting…" />
    </SingleCardPage>
  ) : null;
}
