// How to open the gateway to other machines or to a phone, as steps with commands for whoever runs it. The flags are those of src/hosts/node/options.ts.

import { makeVisible } from "../../../src/approval/visible.ts";
import { session } from "../state/session.ts";
import { Code } from "../ui/code.tsx";
import { addressAt, type NetworkFacts, portFlag, type Route } from "./addresses.ts";
import "./open-gateway.css";

type OpenProps = {
  route: Route;
  network: NetworkFacts;
  address: string | null;
  /** What to do at the address that the gateway then has. */
  then?: string;
};

const ADD_MACHINE = "add the machine there";

/** `address`: the one that was typed so far. */
export function OpenGateway(props: OpenProps) {
  const isRoot = session.value?.identity.process.uid === 0;
  const { route } = props;
  return (
    <>
      {!isRoot && route !== "ssh" && route !== "here" && route !== "same" && (
        <p>This GSV cannot be reached this way yet. Ask whoever runs GSV to do this, or do it yourself on that computer:</p>
      )}
      <Steps {...props} isRoot={isRoot} />
    </>
  );
}

function Steps({ route, network, address, then = ADD_MACHINE, isRoot }: OpenProps & { isRoot: boolean }) {
  switch (route) {
    case "local":
      return <LocalNetworkSteps network={network} then={then} isRoot={isRoot} />;
    case "tailscale":
      return <TailscaleSteps network={network} address={address} />;
    case "tunnel":
      return <TunnelSteps network={network} address={address} />;
    case "ssh":
      return <SshSteps network={network} />;
    case "name":
      return <ProxySteps network={network} address={address} />;
    default:
      return null;
  }
}

type LocalProps = { network: NetworkFacts; then: string; isRoot: boolean };

function LocalNetworkSteps({ network, then, isRoot }: LocalProps) {
  const local = network.interfaces.find(({ kind }) => kind === "local")?.address;
  return (
    <>
      {isRoot && <p>GSV listens on its own computer only. To open it to your local network, on the computer that runs GSV:</p>}
      <ol class="machine-steps">
        <li>
          <p>Stop GSV and start it again with:</p>
          <Code text={`npm start -- --host 0.0.0.0 --allow-remote${portFlag(network)}`} label="the command that restarts GSV" />
        </li>
        <li>
          <p>
            {local === undefined
              ? `Open GSV at the address of that computer in your network, such as ${addressAt(network, "192.168.1.20")}, and ${then}.`
              : `Open GSV at ${addressAt(network, makeVisible(local))}, and ${then}.`}
          </p>
        </li>
      </ol>
      <p class="soft">Connections are then not encrypted. In a network with others in it, use Tailscale or a certificate instead.</p>
    </>
  );
}

function TailscaleSteps({ network, address }: { network: NetworkFacts; address: string | null }) {
  return (
    <>
      <p>Both computers need Tailscale, in the same tailnet. On the computer that runs GSV:</p>
      <ol class="machine-steps">
        <li>
          <p>Let Tailscale forward to GSV. It prints your address.</p>
          <Code text={`tailscale serve --bg ${network.port ?? ""}`.trim()} label="the Tailscale command" />
        </li>
        <RestartWithOrigin network={network} origin={address ?? "https://my-machine.my-tailnet.ts.net"} isExample={address === null} />
      </ol>
    </>
  );
}

function TunnelSteps({ network, address }: { network: NetworkFacts; address: string | null }) {
  return (
    <>
      <p>With Cloudflare Tunnel, for example. Everybody who knows the address can then see the sign-in page.</p>
      <ol class="machine-steps">
        <li>
          <p>On the computer that runs GSV, start the tunnel. It prints an address that ends with trycloudflare.com.</p>
          <Code text={`cloudflared tunnel --url ${addressAt(network, "127.0.0.1")}`} label="the tunnel command" />
        </li>
        <RestartWithOrigin network={network} origin={address ?? "https://my-tunnel.trycloudflare.com"} isExample={address === null} />
      </ol>
    </>
  );
}

function SshSteps({ network: { port } }: { network: NetworkFacts }) {
  return (
    <>
      <p>Keep this running on the computer that runs GSV. The machine then reaches GSV at the address below.</p>
      <Code text={`ssh -N -R ${port ?? ""}:127.0.0.1:${port ?? ""} USER@MACHINE`} label="the SSH command" />
    </>
  );
}

function ProxySteps({ network, address }: { network: NetworkFacts; address: string | null }) {
  const host = address === null ? "gsv.example.com" : new URL(address).host;
  return (
    <>
      <p>GSV needs a name that points to its computer, and a proxy with a certificate in front of it. With Caddy:</p>
      <ol class="machine-steps">
        <li>
          <p>Let the proxy forward to GSV.</p>
          <Code text={`caddy reverse-proxy --from ${host} --to 127.0.0.1:${network.port ?? ""}`} label="the proxy command" />
        </li>
        <RestartWithOrigin network={network} origin={address ?? "https://gsv.example.com"} isExample={address === null} />
      </ol>
    </>
  );
}

type RestartProps = { network: NetworkFacts; origin: string; isExample: boolean };

function RestartWithOrigin({ network, origin, isExample }: RestartProps) {
  const command = `npm start -- --origin ${origin} --trust-proxy 127.0.0.1${portFlag(network)}`;
  return (
    <li>
      <p>{isExample ? "Restart GSV with that address instead of this example:" : "Restart GSV with that address:"}</p>
      <Code text={command} label="the command that restarts GSV" />
    </li>
  );
}
