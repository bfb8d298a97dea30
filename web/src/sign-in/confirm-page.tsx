// The page that a sign-in link opens. It asks before it signs in: otherwise anybody could sign a browser in to an account of their own by a
// link, and read what is typed there.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { ConnectingPage } from "../frame/connecting-page.tsx";
import { SingleCardPage } from "../frame/single-card-page.tsx";
import { phase, username } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { signInWithCode } from "./redeem.ts";
import { parseSignInLink, type SignInLink } from "./sign-in-link.ts";

export default function ConfirmPage({ fragment }: { fragment: string }) {
  const link = parseSignInLink(fragment);
  // While it signs in, whoever was here is signed out, and the state of the session says so.
  const [isStarted, setStarted] = useState(false);
  if (phase.value === "starting" || (phase.value === "lost" && !isStarted)) return <ConnectingPage />;
  if (link === null)
    return (
      <SingleCardPage title="This sign-in link is not complete" text="Scan the QR code again, or copy the whole link.">
        <LeaveButton />
      </SingleCardPage>
    );
  return <Confirmation link={link} onStart={() => setStarted(true)} />;
}

function Confirmation({ link, onStart }: { link: SignInLink; onStart: () => void }) {
  const { isBusy, problem, run } = useOperation();
  const [isTried, setTried] = useState(false);
  // Who was signed in when the question was asked.
  const [here] = useState(phase.value === "open" ? username.value : null);
  const name = makeVisible(link.username);
  if (here === link.username)
    return (
      <SingleCardPage title={`You are already signed in as ${name}`} text={`to GSV at ${location.host}`}>
        <LeaveButton title="Open GSV" />
      </SingleCardPage>
    );
  const signIn = () => {
    onStart();
    setTried(true);
    return run(() => signInWithCode(link));
  };
  return (
    <SingleCardPage title={`Sign in as ${name}?`} text={`to GSV at ${location.host}`}>
      <div class="stack">
        {here !== null && (
          <Banner tone="warn">
            You are signed in as {makeVisible(here)}. This link signs in as {name}, and signs {makeVisible(here)} out of this browser.
          </Banner>
        )}
        {problem === null ? (
          <p class="soft">
            Do this only if you made the QR code or the link yourself. This browser then stays signed in for up to 30 days.
          </p>
        ) : (
          <Banner tone="bad">{problem}</Banner>
        )}
        <Button look="primary" wide busy={isBusy} onClick={() => void signIn()}>
          {isTried ? "Try again" : `Sign in as ${name}`}
        </Button>
        <LeaveButton
          title={here !== null ? `Stay signed in as ${makeVisible(here)}` : problem === null ? "Cancel" : "Sign in with a password"}
        />
      </div>
    </SingleCardPage>
  );
}

function LeaveButton({ title = "Continue" }: { title?: string }) {
  return (
    <Button wide onClick={() => location.replace("/")}>
      {title}
    </Button>
  );
}
