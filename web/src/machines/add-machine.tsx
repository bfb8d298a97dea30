// Adds a machine, or makes a new install command for a known one: how it reaches the gateway, its name, then the command and its progress.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { LINE_WORKS_MS } from "../../../src/lib/install-line.ts";
import { Link } from "../frame/link.tsx";
import { type PaneName, joinPath } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { call } from "../state/call.ts";
import { mayCall } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { isLocal, type NetworkFacts } from "./addresses.ts";
import { type InstallToken, InstallCommand } from "./install-command.tsx";
import { ReachStep, useReach } from "./reach-step.tsx";

const DEVICE_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** For a user who may not ask: only the address of this browser is known. */
const UNKNOWN_NETWORK: NetworkFacts = { listensOn: "platform", port: null, isEncrypted: true, origins: [], interfaces: [] };

/** Any earlier token that was not used is revoked, so that only the command on the screen is valid. */
async function createInstallToken(deviceId: string, earlierTokenId: string | null): Promise<InstallToken> {
  if (earlierTokenId !== null) await call("sys.token.revoke", { tokenId: earlierTokenId, reason: "a newer install command was generated" });
  const label = deviceId.slice(0, 200);
  const { token } = await call("sys.token.create", { kind: "node", allowedDeviceId: deviceId, label, firstUseWithinMs: LINE_WORKS_MS });
  const now = Date.now();
  return {
    deviceId,
    tokenId: token.tokenId,
    token: token.token,
    createdAt: token.createdAt,
    shownAt: now,
    usableUntil: now + LINE_WORKS_MS,
  };
}

export function AddMachine({ deviceId, pane }: { deviceId: string | null; pane: PaneName }) {
  usePaneTitle(deviceId === null ? "Add a machine" : `New install command for ${makeVisible(deviceId)}`);
  return (
    <div class="machines">
      <Link class="back" to={deviceId === null ? joinPath("machines") : joinPath("machines", "device", deviceId)}>
        <Icon name="back" />
        {deviceId === null ? "All machines" : makeVisible(deviceId)}
      </Link>
      {mayCall("sys.network") ? (
        <WithNetwork deviceId={deviceId} pane={pane} />
      ) : (
        <Wizard known={deviceId} network={UNKNOWN_NETWORK} pane={pane} />
      )}
    </div>
  );
}

function WithNetwork({ deviceId, pane }: { deviceId: string | null; pane: PaneName }) {
  const network = useLatest("sys.network", {});
  return (
    <Loaded latest={network} label="Reading how this GSV is reached">
      {(facts) => <Wizard known={deviceId} network={facts} pane={pane} />}
    </Loaded>
  );
}

type WizardProps = { known: string | null; network: NetworkFacts; pane: PaneName };

function Wizard({ known, network, pane }: WizardProps) {
  const reach = useReach(network);
  const [name, setName] = useState(known ?? "");
  const [isSubmitted, setSubmitted] = useState(false);
  const [installToken, setInstallToken] = useState<InstallToken | null>(null);
  const operation = useOperation();
  const deviceId = known ?? name.trim();
  const isValid = known !== null || DEVICE_NAME.test(deviceId);
  const mayUseLocal = reach.route === "here" || reach.route === "ssh";
  const { address } = reach;
  const isUsable = address !== null && (mayUseLocal || !isLocal(address));
  const generate = () => operation.run(async () => setInstallToken(await createInstallToken(deviceId, installToken?.tokenId ?? null)));
  if (installToken !== null && address !== null)
    return (
      <InstallCommand
        installToken={installToken}
        address={address}
        isBusy={operation.isBusy}
        problem={operation.problem}
        onRegenerate={() => void generate()}
        onBack={() => setInstallToken(null)}
        pane={pane}
      />
    );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        setSubmitted(true);
        if (isValid && isUsable) void generate();
      }}
    >
      <ReachStep reach={reach} network={network} />
      <Card
        title={known === null ? "What is it called?" : `A new command for ${makeVisible(known)}`}
        text="The machine needs Node.js 20 or newer. It connects outwards: no port is opened on it."
      >
        {known === null && (
          <TextInput
            label="Name"
            hint="Letters, digits, dots and dashes, such as laptop. You and your agents call it that."
            error={isSubmitted && !isValid ? "Start with a letter or digit, then use letters, digits, dots and dashes only." : null}
            value={name}
            onValue={setName}
            maxLength={64}
            autocomplete="off"
            autocapitalize="none"
          />
        )}
        {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
        {isSubmitted && !isUsable && <Banner tone="warn">Enter the address at which the machine reaches GSV first.</Banner>}
        <div class="row">
          <Button type="submit" look="primary" busy={operation.isBusy}>
            Generate install command
          </Button>
        </div>
      </Card>
    </form>
  );
}
