// The greeting dialog after set-up, shown once: how to connect the first machine, and suggested requests.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { installLine, installLineWindows, addressWarning } from "../../../src/lib/install-line.ts";
import { go, joinPath } from "../frame/route.ts";
import { arrival, type Arrival } from "../state/arrival.ts";
import { call } from "../state/call.ts";
import { client, username } from "../state/session.ts";
import { useOperation } from "../state/use-operation.ts";
import { useLatest } from "../state/use-latest.ts";
import { useHasPassed } from "../state/use-has-passed.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { suggestRequests } from "./suggested-requests.ts";
import "./arrival.css";
import "./stack-close.css";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";

const SYSTEMS = [
  { value: "unix" as const, title: "Linux and macOS" },
  { value: "windows" as const, title: "Windows" },
];

export default function ArrivalDialog() {
  const current = arrival.value;
  return current === null || client.value === null ? null : <Greeting arrival={current} />;
}

function Greeting({ arrival: { provider, machine } }: { arrival: Arrival }) {
  const operation = useOperation();
  const [isConnected, setConnected] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => list.current?.querySelector("button")?.focus(), []);
  const close = () => {
    arrival.value = null;
  };
  const sendRequest = (message: string) =>
    operation.run(async () => {
      const sent = await call("proc.send", { message });
      close();
      if ("pid" in sent && typeof sent.pid === "string") go(joinPath("chat", sent.pid), { replace: true });
    });
  const requests = suggestRequests(provider, isConnected ? machine!.deviceId : null);
  return (
    <Dialog title={`Hello, ${username.value}`} onClose={close} actions={<Button onClick={close}>Just look around</Button>}>
      <div class="greeting">
        {machine !== null && <ConnectMachine {...machine} onConnected={() => setConnected(true)} />}
        <div class="stack-close">
          <h3>Try asking</h3>
          <ul class="asks" ref={list}>
            {requests.map((text) => (
              <li key={text}>
                <button type="button" class="asks-one" disabled={operation.isBusy} onClick={() => void sendRequest(text)}>
                  <span>{text}</span>
                  <Icon name="right" />
                </button>
              </li>
            ))}
          </ul>
          {provider === "demo" && <p class="soft small">The demo model answers. It is not an AI and knows a few such requests.</p>}
        </div>
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
    </Dialog>
  );
}

function ConnectMachine({ deviceId, token, usableUntil, onConnected }: NonNullable<Arrival["machine"]> & { onConnected: () => void }) {
  const isExpired = useHasPassed(usableUntil);
  const [system, setSystem] = useState<"unix" | "windows">("unix");
  const devices = useLatest("sys.device.list", {}, ({ signal }) => signal === DEVICE_STATUS).value.value?.devices ?? [];
  const connectedDevice = devices.find((device) => device.deviceId === deviceId && device.online);
  useEffect(() => {
    if (connectedDevice !== undefined) onConnected();
  }, [connectedDevice !== undefined]);
  if (connectedDevice !== undefined)
    return (
      <Banner tone="good">
        {deviceId} is connected{connectedDevice.platform === "" ? "" : ` (${connectedDevice.platform})`}. Agents can work there, and ask you
        first.
      </Banner>
    );
  if (isExpired)
    return <Banner tone="warn">The line for {deviceId} has run out: it worked for an hour. Make another under Machines.</Banner>;
  const device = { deviceId, username: username.value, token };
  const remark = addressWarning(location.origin, "open this page under that address");
  return (
    <div class="stack-close">
      <h3>Connect {deviceId}</h3>
      <p class="soft">Paste this into a terminal there. It is shown only now and works for an hour; another can be made under Machines.</p>
      <Tabs label="System" value={system} tabs={SYSTEMS} onValue={setSystem}>
        <Code text={(system === "unix" ? installLine : installLineWindows)(location.origin, device)} label="the line to paste" />
      </Tabs>
      {remark !== null && <p class="soft small">{remark}.</p>}
      <Spinner label={`Waiting for ${deviceId}`} />
    </div>
  );
}
