// What is on the page as a whole, by how the session stands. Once somebody is in, a cut takes nothing away from the screen:
// the frame stays and says so.

import { arrival } from "../state/arrival.ts";
import { client, phase } from "../state/session.ts";
import { Toasts } from "../ui/toasts.tsx";
import { Frame } from "./frame.tsx";
import { Lazy } from "./lazy.tsx";
import { Login } from "./login.tsx";
import { Waiting } from "./waiting.tsx";

const onboarding = () => import("../onboarding/onboarding.tsx");
const greeting = () => import("../onboarding/arrival.tsx");

export function Desktop() {
  return (
    <>
      <Now />
      {client.value !== null && arrival.value !== null && <Lazy load={greeting} props={{}} />}
      <Toasts />
    </>
  );
}

function Now() {
  if (client.value !== null) return <Frame />;
  switch (phase.value) {
    case "setup":
      return <Lazy load={onboarding} props={{}} />;
    case "login":
      return <Login />;
    case "starting":
    case "lost":
    case "open":
      return <Waiting />;
  }
}
