// The command that adds a machine, as text and as a QR code, until when it is valid, and whether the machine has connected with it.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { installLine, installLineWindows } from "../../../src/lib/install-line.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";
import { Elapsed } from "../chat/elapsed.tsx";
import { Link } from "../frame/link.tsx";
import { joinPath, type PaneName } from "../frame/route.ts";
import { mayCall, username } from "../state/session.ts";
import { useHasPassed } from "../state/use-has-passed.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Code } from "../ui/code.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { AskAbout } from "./ask-about.tsx";
import { LoadGauges, useVitals } from "./machine-load.tsx";
import { systemName } from "./system-name.ts";
import { formatClock } from "../ui/format-time.ts";

/** `createdAt` by the gateway's clock, the other times by this browser's. */
export type InstallToken = {
  deviceId: string;
  tokenId: string;
  token: string;
  createdAt: number;
  shownAt: number;
  usableUntil: number;
};

type System = "linux" | "macos" | "windows";

const SYSTEMS: readonly { value: System; title: string }[] = [
  { value: "linux", title: "Linux" },
  { value: "macos", title: "macOS" },
  { value: "windows", title: "Windows" },
];

type InstallProps = {
  installToken: InstallToken;
  /** The origin at which the machine reaches the gateway. */
  address: string;
  isBusy: boolean;
  problem: string | null;
  onRegenerate: () => void;
  onBack: () => void;
  pane: PaneName;
};

export function InstallCommand(props: InstallProps) {
  const { installToken, isBusy, problem, onRegenerate, onBack, pane } = props;
  const isConnected = useIsConnected(installToken);
  const isExpired = useHasPassed(installToken.usableUntil);
  const name = makeVisible(installToken.deviceId);
  if (isConnected) return <Connected deviceId={installToken.deviceId} pane={pane} />;
  const regenerate = (
    <Button look={isExpired ? "primary" : "plain"} busy={isBusy} onClick={onRegenerate}>
      Generate a new command
    </Button>
  );
  return (
    <>
      {problem !== null && <Banner tone="bad">{makeVisible(problem)}</Banner>}
      {isExpired ? (
        <Card title={`The command for ${name} has expired`} text="It was valid for an hour, and no machine connected with it.">
          <div class="row">{regenerate}</div>
        </Card>
      ) : (
        <>
          <CommandCard {...props} />
          <Card>
            <div class="machine-waiting">
              <div class="row">
                <Spinner label={`Waiting for ${name}…`} />
                <Elapsed since={installToken.shownAt} />
              </div>
              <p class="soft small">
                It can take a minute. If the terminal says that no service was set up, run the command there that it names, and keep that
                terminal open.
              </p>
              <div class="row">
                <Button look="quiet" onClick={onBack}>
                  Back
                </Button>
                {regenerate}
              </div>
            </div>
          </Card>
        </>
      )}
    </>
  );
}

function CommandCard({ installToken, address }: InstallProps) {
  const { deviceId, token, usableUntil } = installToken;
  const [system, setSystem] = useState<System>(guessSystem);
  const [hasQrCode, setQrCode] = useState(false);
  const device = { deviceId, username: username.value, token };
  const command = system === "windows" ? installLineWindows(address, device) : installLine(address, device);
  const until = formatClock(usableUntil);
  return (
    <Card
      title={`Run this on ${makeVisible(deviceId)}`}
      text={`It installs gsv from this gateway and keeps the machine connected. Valid until ${until}, for one machine. It is shown only now.`}
    >
      <Tabs label="System" value={system} tabs={SYSTEMS} onValue={setSystem}>
        <Code text={command} label={system === "windows" ? "the command for PowerShell" : "the command for a terminal"} />
        {system === "windows" && <p class="soft small">On Windows there is no service yet: keep gsv device run running afterwards.</p>}
      </Tabs>
      <div class="row">
        <Button onClick={() => setQrCode(!hasQrCode)} aria-expanded={hasQrCode ? "true" : "false"}>
          {hasQrCode ? "Hide QR code" : "Show QR code"}
        </Button>
      </div>
      {hasQrCode && (
        <div class="machine-command-and-code">
          <QrCode text={command.trim()} label="QR code with the install command" />
          <p class="soft">Scan it to carry the command to another device. It contains the machine's token: show it to nobody.</p>
        </div>
      )}
    </Card>
  );
}

function useIsConnected({ deviceId, createdAt }: InstallToken): boolean {
  const device = useLatest("sys.device.get", { deviceId }, ({ signal }) => signal === DEVICE_STATUS).value.value?.device ?? null;
  return device?.online === true && (device.connectedAt ?? 0) >= createdAt;
}

/** The machine is there: what it is, and what to do with it. */
function Connected({ deviceId, pane }: { deviceId: string; pane: PaneName }) {
  const device = useLatest("sys.device.get", { deviceId }, ({ signal }) => signal === DEVICE_STATUS).value.value?.device ?? null;
  const name = makeVisible(deviceId);
  return (
    <>
      <Banner tone="good">{name} is connected.</Banner>
      <Card
        title={name}
        text="Agents can read its files. They ask before they run commands or change anything."
        actions={
          <>
            <AskAbout machine={deviceId} label={`Ask about ${name}`} look="primary" pane={pane} />
            <Link to={joinPath("machines", "device", deviceId)}>Open {name}</Link>
          </>
        }
      >
        {mayCall("sys.vitals") ? <Measured deviceId={deviceId} /> : <p>{systemName(device?.platform ?? "")}</p>}
      </Card>
    </>
  );
}

function Measured({ deviceId }: { deviceId: string }) {
  const vitals = useVitals(deviceId).value.value;
  if (vitals === null) return null;
  return (
    <>
      <p>
        {makeVisible(vitals.system)}
        {vitals.arch !== null && `, ${makeVisible(vitals.arch)}`}
      </p>
      <LoadGauges vitals={vitals} />
    </>
  );
}

/** The system of this browser: often the machine to add is the one somebody sits at. */
function guessSystem(): System {
  const { userAgent } = navigator;
  if (userAgent.includes("Windows")) return "windows";
  return userAgent.includes("Mac OS X") && !userAgent.includes("Mobile") ? "macos" : "linux";
}
