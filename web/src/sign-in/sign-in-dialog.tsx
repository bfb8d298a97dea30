// Signs the user in on a phone: a QR code that their phone opens, and who has used it, with Undo. The code ends when the dialog is closed.

import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isLoopback } from "../../../src/lib/address.ts";
import { overlay } from "../frame/overlay.ts";
import { call, type Result } from "../state/call.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { username } from "../state/session.ts";
import { useHasPassed } from "../state/use-has-passed.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Time } from "../ui/time.tsx";
import { ReachPhone } from "./reach-phone.tsx";
import { formatSignInLink } from "./sign-in-link.ts";
import "./sign-in-dialog.css";

/** `usableUntil` is by this browser's clock. */
type ShownCode = { codeId: string; code: string; usableUntil: number };
type GivenToken = NonNullable<Result<"sys.signin.get">["token"]>;

/** How the gateway's message for a code begins that a newer one has replaced, in another window. */
const NOT_FOUND = "Sign-in code not found";
const isTokenChange = makeChangeFilter("tokens");

export default function SignInDialog() {
  const close = () => {
    overlay.value = null;
  };
  return (
    <Dialog title="Sign in on a phone" onClose={close}>
      {isLoopback(location.hostname) ? <ReachPhone /> : <CodeMaker />}
    </Dialog>
  );
}

function CodeMaker() {
  const [shown, setShown] = useState<ShownCode | null>(null);
  const { isBusy, problem, run } = useOperation();
  const make = () =>
    run(async () => {
      const { codeId, code, createdAt, expiresAt } = await call("sys.signin.create", {});
      setShown({ codeId, code, usableUntil: Date.now() + expiresAt - createdAt });
    });
  useEffect(() => void make(), []);
  if (shown !== null) return <CurrentCode key={shown.codeId} shown={shown} isBusy={isBusy} problem={problem} onNew={() => void make()} />;
  if (problem === null) return <Skeleton label="Making a code" />;
  return (
    <Banner tone="bad" actions={<Button onClick={() => void make()}>Retry</Button>}>
      {makeVisible(problem)}
    </Banner>
  );
}

type CurrentCodeProps = { shown: ShownCode; isBusy: boolean; problem: string | null; onNew: () => void };

function CurrentCode({ shown: { codeId, code, usableUntil }, isBusy, problem, onNew }: CurrentCodeProps) {
  const latest = useLatest("sys.signin.get", { codeId }, isTokenChange);
  const hasExpired = useHasPassed(usableUntil);
  const token = latest.value.value?.token ?? null;
  const isReplaced = latest.problem.value?.startsWith(NOT_FOUND) === true;
  // Nobody can use a code that nobody sees. One that was replaced or used is gone already.
  useEffect(() => () => void call("sys.signin.revoke", { codeId }).catch(() => {}), [codeId]);
  if (token !== null) return <SignedIn token={token} isBusy={isBusy} onNew={onNew} />;
  if (hasExpired || isReplaced || problem !== null)
    return (
      <Banner
        tone={problem === null ? "plain" : "bad"}
        actions={
          <Button busy={isBusy} onClick={onNew}>
            New code
          </Button>
        }
      >
        {makeVisible(problem ?? (hasExpired ? "This code has expired." : "A newer code has replaced this one."))}
      </Banner>
    );
  const link = formatSignInLink(location.origin, { username: username.value, code });
  return (
    <div class="sign-in">
      <QrCode text={link} label={`QR code that signs a phone in as ${username.value}`} />
      <div class="stack">
        <p>
          Scan this with the camera of your phone. Whoever opens it is signed in as <strong>{makeVisible(username.value)}</strong>, so show
          it to nobody else.
        </p>
        <Code text={link} label="the link" />
        <p class="soft">
          It works once. <Countdown until={usableUntil} />
        </p>
      </div>
    </div>
  );
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / 1_000));
  return (
    <span role="timer" aria-live="off">
      Expires in {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, "0")}
    </span>
  );
}

function SignedIn({ token, isBusy, onNew }: { token: GivenToken; isBusy: boolean; onNew: () => void }) {
  const undo = useOperation();
  const browser = makeVisible((token.label ?? "an unnamed browser").replace(/^Web desktop: /, ""));
  return (
    <div class="stack" role="status">
      {token.isLive ? (
        <Banner
          tone="good"
          actions={
            <Button
              busy={undo.isBusy}
              onClick={() => void undo.run(() => call("sys.token.revoke", { tokenId: token.tokenId, reason: "undone" }))}
            >
              Undo
            </Button>
          }
        >
          Signed in on {browser}
          {token.expiresAt !== null && (
            <>
              , until <Time at={token.expiresAt} />
            </>
          )}
          .
        </Banner>
      ) : (
        <Banner>{browser} is signed out again.</Banner>
      )}
      {undo.problem !== null && <Banner tone="bad">{makeVisible(undo.problem)}</Banner>}
      <div class="row">
        <Button busy={isBusy} onClick={onNew}>
          Sign in on another phone
        </Button>
      </div>
    </div>
  );
}
