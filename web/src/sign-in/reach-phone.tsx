// What to do where a phone cannot reach the address of this page: open GSV at another one of its addresses, or give it one first.

import { useState } from "preact/hooks";
import { addressesOf, listAddresses, isLocal, type NetworkFacts, type Route } from "../machines/addresses.ts";
import { OpenGateway } from "../machines/open-gateway.tsx";
import { mayCall } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { Select } from "../ui/choice.tsx";
import { Code } from "../ui/code.tsx";
import { Loaded } from "../ui/loaded.tsx";

const WAYS: readonly { value: Route; label: string }[] = [
  { value: "local", label: "Over the same local network" },
  { value: "tailscale", label: "Over Tailscale, from anywhere" },
  { value: "tunnel", label: "Through a tunnel, such as Cloudflare Tunnel" },
  { value: "name", label: "By a public name" },
];
const THEN = "choose Sign in on a phone there";

export function ReachPhone() {
  return (
    <div class="stack">
      <Banner tone="warn">This address works only on this computer. A phone needs another address of GSV.</Banner>
      {mayCall("sys.network") ? <WithNetwork /> : <p>Ask whoever runs GSV for an address that the phone can reach, and {THEN}.</p>}
    </div>
  );
}

function WithNetwork() {
  const network = useLatest("sys.network", {});
  return (
    <Loaded latest={network} label="Reading how this GSV is reached">
      {(facts) => {
        const addresses = listAddresses(facts, location.origin).filter((address) => !isLocal(address));
        return addresses.length > 0 ? <KnownAddresses addresses={addresses} /> : <Steps network={facts} />;
      }}
    </Loaded>
  );
}

function KnownAddresses({ addresses }: { addresses: readonly string[] }) {
  return (
    <div class="stack">
      <p>Open GSV at an address that the phone can reach, and {THEN}:</p>
      {addresses.map((address) => (
        <Code key={address} text={address} label={`the address ${address}`} />
      ))}
    </div>
  );
}

function Steps({ network }: { network: NetworkFacts }) {
  const [route, setRoute] = useState<Route>("local");
  // Wherever the platform routes to it, there is nothing to start anew.
  if (network.listensOn === "platform") return <p>Open GSV at its public address, and {THEN}.</p>;
  const address = addressesOf(route, network, location.origin)[0] ?? null;
  return (
    <div class="stack">
      <Select label="How will the phone reach GSV?" value={route} options={WAYS} onValue={setRoute} />
      <OpenGateway route={route} network={network} address={address} then={THEN} />
      {route !== "local" && <p>Then open GSV at that address, and {THEN}.</p>}
    </div>
  );
}
