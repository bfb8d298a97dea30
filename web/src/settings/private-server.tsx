// Tells a user that only root can allow a model server at a private address, and which host to allow.

import { PROVIDERS } from "../../../src/models/providers.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isLoopback } from "../../../src/lib/address.ts";
import { session } from "../state/session.ts";
import { Banner } from "../ui/banner.tsx";
import type { ModelForm } from "./model-form.ts";
import type { CheckOutcome } from "./model-check.tsx";

/** How the gateway says that it does not connect to a host (src/kernel/egress/target.ts). */
const BLOCKED = "only public hosts can be reached";
const PRIVATE_ADDRESS = /^(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01])|169\.254)\.|^\[f[cde]/;
const LOCAL_NAME = /\.(?:local|lan|home|internal|intranet|home\.arpa)\.?$/;

export function PrivateServer({ form: { value, inherited }, outcome }: { form: ModelForm; outcome: CheckOutcome | null }) {
  const address = addressOf(value("provider"), value("base_url"));
  const url = URL.canParse(address) ? new URL(address) : null;
  const isBlocked = outcome !== null && !outcome.isGood && outcome.text.includes(BLOCKED);
  // What root has chosen for everybody is allowed, and what answers is, too.
  const isAllowed = outcome?.isGood === true || address === addressOf(inherited.get("provider") ?? "", inherited.get("base_url") ?? "");
  if (session.value?.identity.process.uid === 0 || url === null || isAllowed || !(isBlocked || isPrivate(url.hostname))) return null;
  return (
    <Banner tone={isBlocked ? "warn" : "plain"}>
      Only the administrator (root) can allow servers on this computer or network: sign in as root, Settings &gt; Network, and allow{" "}
      <strong>{makeVisible(url.host)}</strong>.
    </Banner>
  );
}

function addressOf(provider: string, baseUrl: string): string {
  return baseUrl.trim() || (Object.hasOwn(PROVIDERS, provider) ? (PROVIDERS[provider]!.baseUrl ?? "") : "");
}

/** By its spelling: what a name stands for, only the gateway knows. */
function isPrivate(host: string): boolean {
  return isLoopback(host) || PRIVATE_ADDRESS.test(host) || LOCAL_NAME.test(host);
}
