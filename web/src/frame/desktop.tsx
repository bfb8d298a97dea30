// The root component: chooses the page by the state of the session. Once a user is logged in, a lost connection does not replace
// the page: the frame stays and says so.

import { arrival } from "../state/arrival.ts";
import { client, phase } from "../state/session.ts";
import { Toasts } from "../ui/toasts.tsx";
import { Frame } from "./frame.tsx";
import { Lazy } from "./lazy.tsx";
import { LoginPage } from "./login-page.tsx";
import { ConnectingPage } from "./connecting-page.tsx";

const loadOnboarding = () => import("../onboarding/onboarding.tsx");
const loadArrivalDialog = () => import("../onboarding/arrival.tsx");

export function Desktop() {
  return (
    <>
      <CurrentPage />
      {client.value !== null && arrival.value !== null && <Lazy load={loadArrivalDialog} props={{}} />}
      <Toasts />
    </>
  );
}

function CurrentPage() {
  if (client.value !== null) return <Frame />;
  switch (phase.value) {
    case "setup":
      return <Lazy load={loadOnboarding} props={{}} />;
    case "login":
      return <LoginPage />;
    case "starting":
    case "lost":
    case "open":
      return <ConnectingPage />;
  }
}
