// The first steps: three requests that work now, a machine to connect, and a model if only the demo answers.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";
import { go, joinPath } from "../frame/route.ts";
import { arrival, type ArrivalMachine } from "../state/arrival.ts";
import { call } from "../state/call.ts";
import { mayCall, session, username } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { AgentRights } from "./agent-rights.tsx";
import { ConnectMachine } from "./connect-machine.tsx";
import { suggestRequests } from "./suggested-requests.ts";

type FirstStepsProps = { machine: ArrivalMachine | null; /** Known right after set-up only. */ hasSameRootPassword: boolean };

export function FirstSteps({ machine, hasSameRootPassword }: FirstStepsProps) {
  const operation = useOperation();
  const list = useRef<HTMLUListElement>(null);
  const [connectedId, setConnectedId] = useState<string | null>(null);
  const model = useLatest("proc.settings.get", {});
  const devices = useLatest("sys.device.list", {}, ({ signal }) => signal === DEVICE_STATUS);
  const isDemo = model.value.value?.effective.provider === "demo";
  const deviceId = connectedId ?? devices.value.value?.devices.find(({ online }) => online)?.deviceId ?? null;
  // Which requests work is known when both have been read, or cannot be.
  const isReady = [model, devices].every(({ value, problem }) => value.value !== null || problem.value !== null);
  useLayoutEffect(() => {
    if (isReady) list.current?.querySelector("button")?.focus();
  }, [isReady]);
  const close = () => {
    arrival.value = null;
  };
  const open = (path: string) => {
    close();
    go(path);
  };
  const sendRequest = (message: string) =>
    operation.run(async () => {
      const sent = await call("proc.send", { message });
      close();
      if ("pid" in sent && typeof sent.pid === "string") go(joinPath("chat", sent.pid), { replace: true });
    });
  return (
    <Dialog title={`Hello, ${username.value}`} onClose={close} isKept actions={<Button onClick={close}>Skip</Button>}>
      <div class="greeting">
        {isReady && mayCall("proc.send") && (
          <div class="stack-close">
            <h3>What would you like to do?</h3>
            <ul class="asks" ref={list}>
              {suggestRequests(isDemo, deviceId).map((text) => (
                <li key={text}>
                  <button type="button" class="asks-one" disabled={operation.isBusy} onClick={() => void sendRequest(text)}>
                    <span>{text}</span>
                    <Icon name="right" />
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )}
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
        {machine !== null && <ConnectMachine {...machine} onConnected={() => setConnectedId(machine.deviceId)} />}
        {isReady && (
          <ul class="asks">
            {isDemo && (
              <NextStep
                icon="chat"
                title="Choose a model"
                text="The demo answers now. It is not an AI and understands a few fixed requests."
                onClick={() => open("/settings/ai")}
              />
            )}
            {machine === null && deviceId === null && mayCall("sys.device.list") && (
              <NextStep
                icon="machine"
                title="Connect a machine"
                text="Agents can then read its files. They ask before they run commands or change anything."
                onClick={() => open("/machines/add")}
              />
            )}
          </ul>
        )}
        <details>
          <summary>What agents may do</summary>
          <AgentRights />
        </details>
        {session.value?.identity.process.uid !== 0 && (
          <p class="soft small">
            You are {makeVisible(username.value)}. The administrator is root{hasSameRootPassword && ", with the same password"}: only root
            adds people and opens the network.
          </p>
        )}
        <p class="soft small">Open this again with Find, “First steps”.</p>
      </div>
    </Dialog>
  );
}

function NextStep({ icon, title, text, onClick }: { icon: IconName; title: string; text: string; onClick: () => void }) {
  return (
    <li>
      <button type="button" class="asks-one asks-step" onClick={onClick}>
        <Icon name={icon} />
        <span class="asks-words">
          <b>{title}</b>
          <span class="soft small">{text}</span>
        </span>
        <Icon name="right" />
      </button>
    </li>
  );
}
