// Hosts that are reached although their addresses are not public. Only root sees and changes them; the kernel reads the same setting
// (src/kernel/egress/allow.ts).

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { useLayer, writeSettings } from "./settings-layer.ts";

const PREFIX = "config/net";
const NAME = "allowed_hosts";

export function Network() {
  const layer = useLayer(PREFIX);
  return (
    <Card
      title="Private addresses"
      text="Agents, scripts and integrations of all users reach public addresses only. Hosts listed here are reached, too, although their addresses are private. Model servers set under AI need no entry."
    >
      <Loaded latest={layer} label="Loading the hosts">
        {(stored) => <Hosts hosts={(stored.get(NAME) ?? "").split(/[\s,]+/).filter(Boolean)} onChanged={() => void layer.refetch()} />}
      </Loaded>
    </Card>
  );
}

function Hosts({ hosts, onChanged }: { hosts: readonly string[]; onChanged: () => void }) {
  const [draft, setDraft] = useState("");
  const [isSubmitted, setSubmitted] = useState(false);
  const operation = useOperation();
  const host = toHost(draft);
  const problem = host === null ? "Enter a host, such as nas.local or 192.168.1.20, with a port to allow only that port." : null;
  const save = async (next: readonly string[], notice: string) => {
    if (!(await operation.run(() => writeSettings(PREFIX, [[NAME, next.join(", ")]])))) return false;
    onChanged();
    showNotice(notice, "good");
    return true;
  };
  const add = async (added: string) => {
    if (!(await save([...hosts.filter((one) => one !== added), added], `${makeVisible(added)} is allowed`))) return;
    setDraft("");
    setSubmitted(false);
  };
  return (
    <div class="stack">
      {hosts.length === 0 ? (
        <p class="soft">No hosts. Only public addresses are reached.</p>
      ) : (
        <ul class="entries">
          {hosts.map((one) => (
            <li class="entry" key={one}>
              <div class="entry-words">
                <p>
                  <strong>{makeVisible(one)}</strong>
                </p>
              </div>
              <Button
                aria-label={`Remove ${makeVisible(one)}`}
                disabled={operation.isBusy}
                onClick={() =>
                  void save(
                    hosts.filter((other) => other !== one),
                    `${makeVisible(one)} is removed`,
                  )
                }
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          setSubmitted(true);
          if (host !== null) void add(host);
        }}
      >
        <TextInput
          label="Host"
          error={isSubmitted ? problem : null}
          value={draft}
          onValue={setDraft}
          autocomplete="off"
          autocapitalize="none"
          maxLength={300}
        />
        <Button type="submit" busy={operation.isBusy}>
          Allow
        </Button>
      </form>
      {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
    </div>
  );
}

/** A host with or without a port, as the setting takes it; of an address its host and port. Null if it is neither. */
function toHost(text: string): string | null {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === "" || /[\s,@]/.test(trimmed)) return null;
  if (trimmed.includes("://")) {
    if (!isHttpUrl(trimmed)) return null;
    const { protocol, hostname, port } = new URL(trimmed);
    return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
  }
  // An IPv6 address may be written without brackets.
  const host = trimmed.split(":").length > 2 && !trimmed.startsWith("[") ? `[${trimmed}]` : trimmed;
  return !/[/?#]/.test(host) && URL.canParse(`http://${host}`) ? host : null;
}
