// The first question of "Add a machine": how that machine reaches the gateway. Offers the addresses that the gateway knows, checks the
// chosen one, and says what to do where there is none yet.

import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, describeError, type Result } from "../state/call.ts";
import { connectionCount, mayCall, session } from "../state/session.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Radio, Select } from "../ui/choice.tsx";
import { Code } from "../ui/code.tsx";
import { TextInput } from "../ui/field.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { addressesOf, isLocal, listRoutes, type NetworkFacts, parseOrigin, type Route } from "./addresses.ts";
import { OpenGateway } from "./open-gateway.tsx";

type Outcome = Result<"sys.network.check">["outcome"];
type Check = { address: string; outcome: Outcome | "failed"; reason: string | null };

export type Reach = {
  route: Route;
  setRoute: (route: Route) => void;
  /** What is written in the field, if the route has no address of its own. */
  typed: string;
  setTyped: (text: string) => void;
  known: readonly string[];
  /** The origin that the machine will use; null if there is none yet. */
  address: string | null;
};

const ROUTES: Readonly<Record<Route, { label: string; hint: string }>> = {
  same: { label: "The same way as this browser", hint: "" },
  here: { label: "It is the computer that GSV runs on", hint: "Nothing else is needed." },
  local: { label: "Over the same local network", hint: "At home or in the office, without a name." },
  tailscale: { label: "Over Tailscale", hint: "Your private network, from anywhere. Encrypted." },
  tunnel: { label: "Through a tunnel", hint: "Such as Cloudflare Tunnel: a public address without opening a port." },
  ssh: { label: "Through SSH", hint: "GSV's computer can log in to the machine by SSH." },
  name: { label: "By a public name", hint: "GSV has a name of its own, such as gsv.example.com." },
};

export function useReach(network: NetworkFacts): Reach {
  const routes = listRoutes(network, location.origin);
  const [route, setRoute] = useState<Route>(routes[0]!);
  const [texts, setTexts] = useState<Partial<Record<Route, string>>>({});
  const known = addressesOf(route, network, location.origin);
  const typed = texts[route] ?? known[0] ?? "";
  const setTyped = (text: string) => setTexts({ ...texts, [route]: text });
  return { route, setRoute, typed, setTyped, known, address: parseOrigin(typed) };
}

export function ReachStep({ reach, network }: { reach: Reach; network: NetworkFacts }) {
  const routes = listRoutes(network, location.origin);
  const { route } = reach;
  const hintOf = (one: Route) => (one === "same" ? `At ${location.origin}` : ROUTES[one].hint);
  return (
    <Card title="How will the machine reach GSV?">
      {routes.length > 1 && (
        <div class="machine-routes">
          <Radio
            legend="Connection"
            value={route}
            options={routes.map((one) => ({ value: one, label: ROUTES[one].label, hint: hintOf(one) }))}
            onValue={reach.setRoute}
            boxes
          />
        </div>
      )}
      <Address reach={reach} network={network} key={route} />
    </Card>
  );
}

function Address({ reach, network }: { reach: Reach; network: NetworkFacts }) {
  const { route, typed, setTyped, known, address } = reach;
  const [isChecked, setChecked] = useState(known.length > 0);
  const isFixed = route === "same" || route === "here" || route === "ssh";
  return (
    <>
      {(known.length === 0 || route === "ssh") && (
        <OpenGateway route={route} network={network} address={known.length === 0 ? address : null} />
      )}
      {isFixed ? (
        <p>
          Address: <strong>{makeVisible(address ?? "")}</strong>
        </p>
      ) : known.length > 1 ? (
        <Select label="Address" value={typed} options={known.map((one) => ({ value: one, label: one }))} onValue={setTyped} />
      ) : (
        <div class="inline-form">
          <TextInput
            label="Address"
            error={address === null && typed !== "" ? "Enter an address such as https://gsv.example.com." : null}
            value={typed}
            onValue={(text) => {
              setTyped(text);
              setChecked(false);
            }}
            type="url"
            placeholder="https://gsv.example.com"
            autocomplete="off"
            autocapitalize="none"
            maxLength={300}
          />
          {mayCall("sys.network.check") && (
            <Button disabled={address === null || isChecked} onClick={() => setChecked(true)}>
              Check
            </Button>
          )}
        </div>
      )}
      {address !== null && <Remarks route={route} address={address} isChecked={isChecked || isFixed || known.length > 1} />}
    </>
  );
}

/** What is known about an address: that this computer alone can use it, that it is not encrypted, and whether it leads here. */
function Remarks({ route, address, isChecked }: { route: Route; address: string; isChecked: boolean }) {
  if (isLocal(address)) {
    if (route === "here") return <p class="soft">This address works only on this computer.</p>;
    if (route === "ssh") return null;
    return <Banner tone="warn">This address works only on this computer. To add another one, open GSV at an address it can reach.</Banner>;
  }
  return (
    <>
      {address.startsWith("http:") && route !== "tailscale" && (
        <Banner tone="warn">
          Connections to this address are not encrypted. Use it only in a network that you trust: others in it could read the machine's
          token.
        </Banner>
      )}
      {/* This page came from its own address, so that one works. */}
      {isChecked && address !== location.origin && mayCall("sys.network.check") && <CheckResult address={address} key={address} />}
    </>
  );
}

function CheckResult({ address }: { address: string }) {
  const [check, setCheck] = useState<Check | null>(null);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    let isMounted = true;
    setCheck(null);
    call("sys.network.check", { url: address }).then(
      ({ outcome, reason }) => isMounted && setCheck({ address, outcome, reason }),
      (error) => isMounted && setCheck({ address, outcome: "failed", reason: describeError(error) }),
    );
    return () => {
      isMounted = false;
    };
  }, [address, attempts, connectionCount.value]);
  if (check === null) return <Spinner label={`Checking ${address}`} />;
  const isRoot = session.value?.identity.process.uid === 0;
  const again = <Button onClick={() => setAttempts(attempts + 1)}>Check again</Button>;
  switch (check.outcome) {
    case "reached":
      return <Banner tone="good">GSV answers at {address}.</Banner>;
    case "private":
      return (
        <p class="soft">The gateway does not check private addresses for you. If the command cannot connect, ask the administrator.</p>
      );
    case "unlisted":
      return (
        <Banner tone="warn" actions={again}>
          GSV answers at {address} but does not accept that name yet.
          {isRoot ? " Restart it with:" : " Ask the administrator to add it with --origin."}
          {isRoot && <Code text={`npm start -- --origin ${address} --trust-proxy 127.0.0.1`} label="the command that restarts GSV" />}
        </Banner>
      );
    case "other":
      return (
        <Banner tone="warn" actions={again}>
          Something else answers at {address}. Check the name and the port.
        </Banner>
      );
    default:
      return (
        <Banner tone="warn" actions={again}>
          The gateway could not connect to {address}. {makeVisible((check.reason ?? "").replace(/\.?$/, "."))}
        </Banner>
      );
  }
}
