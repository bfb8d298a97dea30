// Before the gateway has answered for the first time.

import { useEffect, useState } from "preact/hooks";
import { phase } from "../state/session.ts";
import { Banner } from "../ui/banner.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Alone } from "./single-card-page.tsx";

/** A gateway that is there answers sooner, and then there is no flicker. */
const QUIET_MS = 400;

export function Waiting() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  if (phase.value === "lost")
    return (
      <Alone title="The gateway does not answer">
        <Banner tone="warn">Check that it is running and that this device is online. This page goes on by itself when it is back.</Banner>
        <Spinner label="Trying again" />
      </Alone>
    );
  return isLong ? (
    <Alone title="GSV">
      <Spinner label="Connecting to the gateway" />
    </Alone>
  ) : null;
}
