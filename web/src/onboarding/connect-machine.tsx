// How to connect the first machine, and whether it has connected. Its token is shown only now.

import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isLoopback } from "../../../src/lib/address.ts";
import { addressWarning, installLine, installLineWindows } from "../../../src/lib/install-line.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";
import type { ArrivalMachine } from "../state/arrival.ts";
import { username } from "../state/session.ts";
import { useHasPassed } from "../state/use-has-passed.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { Code } from "../ui/code.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Tabs } from "../ui/tabs.tsx";

const SYSTEMS = [
  { value: "unix" as const, title: "Linux and macOS" },
  { value: "windows" as const, title: "Windows" },
];

export function ConnectMachine({ deviceId, token, usableUntil, onConnected }: ArrivalMachine & { onConnected: () => void }) {
  const isExpired = useHasPassed(usableUntil);
  const [system, setSystem] = useState<"unix" | "windows">("unix");
  const devices = useLatest("sys.device.list", {}, ({ signal }) => signal === DEVICE_STATUS).value.value?.devices ?? [];
  const connectedDevice = devices.find((device) => device.deviceId === deviceId && device.online);
  useEffect(() => {
    if (connectedDevice !== undefined) onConnected();
  }, [connectedDevice !== undefined]);
  if (connectedDevice !== undefined) {
    const { platform } = connectedDevice;
    return (
      <Banner tone="good">
        {deviceId} is connected{platform === "" ? "" : ` (${makeVisible(platform)})`}. Agents can read its files. They ask before they run
        commands or change anything.
      </Banner>
    );
  }
  if (isExpired) return <Banner tone="warn">The command for {deviceId} has expired. Generate another one under Machines.</Banner>;
  const device = { deviceId, username: username.value, token };
  const warning = describeAddress();
  return (
    <div class="stack-close">
      <h3>Connect {deviceId}</h3>
      <p class="soft">Run this command in a terminal on {deviceId}. It is shown only now and works for an hour.</p>
      <Tabs label="System" value={system} tabs={SYSTEMS} onValue={setSystem}>
        <Code text={(system === "unix" ? installLine : installLineWindows)(location.origin, device)} label="Install command" />
      </Tabs>
      {warning !== null && <p class="soft small">{warning}</p>}
      <Spinner label={`Waiting for ${deviceId}`} />
    </div>
  );
}

function describeAddress(): string | null {
  if (isLoopback(location.hostname))
    return "This address works only on this computer. To add another one, open GSV at an address it can reach.";
  const warning = addressWarning(location.origin, "");
  return warning === null ? null : `${warning}.`;
}
