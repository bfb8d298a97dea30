// Adds a machine, or makes a new install line for a known one: a name, the line to paste, then the connection status.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { installLine, installLineWindows, LINE_WORKS_MS, addressWarning } from "../../../src/lib/install-line.ts";
import { Link } from "../frame/link.tsx";
import { type PaneName, joinPath } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { call } from "../state/call.ts";
import { username } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { useLatest } from "../state/use-latest.ts";
import { useHasPassed } from "../state/use-has-passed.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Code } from "../ui/code.tsx";
import { TextInput } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";

const DEVICE_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** `createdAt` by the gateway's clock, `usableUntil` by this browser's. */
type InstallToken = { deviceId: string; token: string; createdAt: number; usableUntil: number };

async function createInstallToken(deviceId: string): Promise<InstallToken> {
  const label = deviceId.slice(0, 200);
  const { token } = await call("sys.token.create", { kind: "node", allowedDeviceId: deviceId, label, firstUseWithinMs: LINE_WORKS_MS });
  return { deviceId, token: token.token, createdAt: token.createdAt, usableUntil: Date.now() + LINE_WORKS_MS };
}

export function AddMachine({ deviceId, pane: _ }: { deviceId: string | null; pane: PaneName }) {
  const [installToken, setInstallToken] = useState<InstallToken | null>(null);
  usePaneTitle(deviceId === null ? "Add a machine" : `New line for ${makeVisible(deviceId)}`);
  return (
    <div class="machines">
      <Link class="back" to={deviceId === null ? joinPath("machines") : joinPath("machines", "device", deviceId)}>
        <Icon name="back" />
        {deviceId === null ? "All machines" : makeVisible(deviceId)}
      </Link>
      {installToken === null ? (
        <NameForm known={deviceId} onToken={setInstallToken} />
      ) : (
        <InstallInstructions installToken={installToken} onToken={setInstallToken} />
      )}
    </div>
  );
}

function NameForm({ known, onToken }: { known: string | null; onToken: (token: InstallToken) => void }) {
  const [name, setName] = useState(known ?? "");
  const [isSubmitted, setSubmitted] = useState(false);
  const operation = useOperation();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const deviceId = known ?? name.trim();
  const isValid = known !== null || DEVICE_NAME.test(deviceId);
  const createToken = () => operation.run(async () => onToken(await createInstallToken(deviceId)));
  return (
    <Card
      title={known === null ? "Name the machine" : `A new token for ${makeVisible(known)}`}
      text="It needs Node.js 20 or newer, and to reach this gateway."
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setSubmitted(true);
          if (isValid) void createToken();
        }}
      >
        {known === null && (
          <TextInput
            label="Name"
            hint="Letters, digits, dots and dashes, such as laptop. People and agents will call it that."
            error={isSubmitted && !isValid ? "Begin with a letter or digit; use letters, digits, dots and dashes only." : operation.problem}
            value={name}
            onValue={setName}
            maxLength={64}
            autocomplete="off"
            autocapitalize="none"
            inputRef={field}
          />
        )}
        {known !== null && operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
        <div class="row">
          <Button type="submit" look="primary" busy={operation.isBusy}>
            Make the line to paste
          </Button>
        </div>
      </form>
    </Card>
  );
}

function InstallInstructions({ installToken, onToken }: { installToken: InstallToken; onToken: (token: InstallToken) => void }) {
  const { deviceId, token } = installToken;
  const [system, setSystem] = useState<"unix" | "windows">("unix");
  const isConnected = useIsConnected(installToken);
  const isExpired = useHasPassed(installToken.usableUntil);
  const device = { deviceId, username: username.value, token };
  const remark = addressWarning(location.origin, "open this page under that address");
  const tabs = [
    { value: "unix" as const, title: "Linux and macOS" },
    { value: "windows" as const, title: "Windows" },
  ];
  if (isExpired && !isConnected) return <ExpiredLine deviceId={deviceId} onToken={onToken} />;
  return (
    <>
      <Card
        title={`Paste this on ${makeVisible(deviceId)}`}
        text="It installs the command line from this gateway and keeps the machine connected. It is shown only now, and works for an hour."
      >
        {remark !== null && <Banner tone="warn">{remark}.</Banner>}
        <Tabs label="System" value={system} tabs={tabs} onValue={setSystem}>
          {system === "unix" ? (
            <Code text={installLine(location.origin, device)} label="the line for a terminal" />
          ) : (
            <Code text={installLineWindows(location.origin, device)} label="the line for PowerShell" />
          )}
        </Tabs>
      </Card>
      <ConnectionStatus deviceId={deviceId} isConnected={isConnected} />
    </>
  );
}

/** The line was not used in time, so its token is no longer valid. */
function ExpiredLine({ deviceId, onToken }: { deviceId: string; onToken: (token: InstallToken) => void }) {
  const operation = useOperation();
  return (
    <Card title={`The line for ${makeVisible(deviceId)} has run out`} text="It worked for an hour, and no machine has connected with it.">
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      <div class="row">
        <Button
          look="primary"
          busy={operation.isBusy}
          onClick={() => void operation.run(async () => onToken(await createInstallToken(deviceId)))}
        >
          Make a new line
        </Button>
      </div>
    </Card>
  );
}

function useIsConnected({ deviceId, createdAt }: InstallToken): boolean {
  const device = useLatest("sys.device.get", { deviceId }, ({ signal }) => signal === DEVICE_STATUS).value.value?.device ?? null;
  return device?.online === true && (device.connectedAt ?? 0) >= createdAt;
}

/** Whether the machine is connected at this moment. */
function ConnectionStatus({ deviceId, isConnected }: { deviceId: string; isConnected: boolean }) {
  if (!isConnected)
    return (
      <Card>
        <Spinner label={`Waiting for ${makeVisible(deviceId)} to connect`} />
      </Card>
    );
  return (
    <Banner tone="good" actions={<Link to={joinPath("machines", "device", deviceId)}>Look at it</Link>}>
      {makeVisible(deviceId)} is connected.
    </Banner>
  );
}
