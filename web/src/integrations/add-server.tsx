// The form that connects an MCP server. The gateway tries the connection before it keeps the server; then its own page shows the next
// step.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { Elapsed } from "../chat/elapsed.tsx";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { type Args, call } from "../state/call.ts";
import { mcpServers, putMcpServer } from "../state/mcp-servers.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { TextInput } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { findHeaderProblem, type Header, HeaderFields } from "./header-fields.tsx";
import { hostOf } from "./server-state.tsx";

type AddArgs = Args<"sys.mcp.add">;
type TransportType = NonNullable<NonNullable<AddArgs["transport"]>["type"]>;

const TRANSPORTS: { value: TransportType; label: string }[] = [
  { value: "auto", label: "Automatic" },
  { value: "streamable-http", label: "Streamable HTTP" },
  { value: "sse", label: "SSE (older servers)" },
];

export function AddServer({ pane }: { pane: PaneName }) {
  return (
    <>
      <Link class="back" to={joinPath("integrations")}>
        <Icon name="back" />
        All servers
      </Link>
      <AddForm onAdded={(serverId) => go(joinPath("integrations", "server", serverId), { pane, replace: true })} />
    </>
  );
}

function AddForm({ onAdded }: { onAdded: (serverId: string) => void }) {
  const [address, setAddress] = useState("");
  const [ownName, setName] = useState<string | null>(null);
  const [type, setType] = useState<TransportType>("auto");
  const [headers, setHeaders] = useState<readonly Header[]>([]);
  const [clientId, setClientId] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const [tokenHost, setTokenHost] = useState("");
  const [isSubmitted, setSubmitted] = useState(false);
  const [startedAt, setStartedAt] = useState(0);
  const operation = useOperation();
  const field = useRef<HTMLInputElement>(null);
  const more = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);

  const url = completeUrl(address);
  const name = ownName ?? suggestName(url);
  const sent = headers.filter((header) => header.name.trim() !== "" || header.value !== "");
  const problems = {
    address: findAddressProblem(url),
    name: findNameProblem(name.trim(), url),
    headers: sent.map(findHeaderProblem).find((problem) => problem !== null) ?? null,
    client: clientSecret !== "" && clientId.trim() === "" ? "The client ID is missing." : null,
  };
  const isValid = Object.values(problems).every((problem) => problem === null);
  const oauth = {
    ...(clientId.trim() === "" ? {} : { clientId: clientId.trim() }),
    ...(clientSecret === "" ? {} : { clientSecret }),
    ...(tokenHost.trim() === "" ? {} : { tokenHost: tokenHost.trim().toLowerCase() }),
  };
  const args: AddArgs = {
    name: name.trim(),
    url,
    transport: { type, ...(sent.length === 0 ? {} : { headers: Object.fromEntries(sent.map((one) => [one.name.trim(), one.value])) }) },
    ...(Object.keys(oauth).length === 0 ? {} : { oauth }),
  };
  const add = () => {
    setStartedAt(Date.now());
    return operation.run(async () => {
      const { server } = await call("sys.mcp.add", args);
      putMcpServer(server);
      // The list may not have been read yet.
      if (mcpServers.value.peek() === null) await mcpServers.refetch();
      onAdded(server.serverId);
    });
  };
  return (
    <Card
      title="Where is the server?"
      text="Your agents can then use what it offers, as far as you allow. Add only servers you trust: agents read what they say."
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setSubmitted(true);
          if (isValid) void add();
          else if (problems.address === null && problems.name === null) more.current!.open = true;
        }}
      >
        <TextInput
          label="Address"
          hint="The service's help pages about MCP name it, such as https://mcp.linear.app/mcp."
          error={isSubmitted ? problems.address : null}
          value={address}
          onValue={setAddress}
          inputMode="url"
          maxLength={2_048}
          autocomplete="off"
          autocapitalize="none"
          inputRef={field}
        />
        <TextInput
          label="Name"
          hint="What you and your agents call it, such as Linear."
          error={isSubmitted ? problems.name : null}
          value={name}
          onValue={setName}
          maxLength={80}
          autocomplete="off"
        />
        <details ref={more}>
          <summary>More: headers, a registered client, the transport</summary>
          <div class="stack more-fields">
            <HeaderFields headers={headers} problem={isSubmitted ? problems.headers : null} onHeaders={setHeaders} />
            <fieldset class="field-group">
              <legend class="field-label">Registered client</legend>
              <p class="field-words">
                Only for servers at which you must register GSV yourself. The callback address to register is{" "}
                <code>{location.origin}/oauth/callback</code>
              </p>
              <div class="field-pair">
                <TextInput
                  label="Client ID"
                  error={isSubmitted ? problems.client : null}
                  value={clientId}
                  onValue={setClientId}
                  maxLength={512}
                  autocomplete="off"
                  autocapitalize="none"
                />
                <TextInput
                  label="Client secret"
                  hint="If there is one. Stored encrypted, never shown again."
                  type="password"
                  value={clientSecret}
                  onValue={setClientSecret}
                  maxLength={4_096}
                  autocomplete="new-password"
                />
              </div>
            </fieldset>
            <TextInput
              label="Token host"
              hint="Only if connecting fails and tells you one that you trust."
              value={tokenHost}
              onValue={setTokenHost}
              maxLength={255}
              autocomplete="off"
              autocapitalize="none"
            />
            <Select label="Transport" value={type} options={TRANSPORTS} onValue={setType} />
          </div>
        </details>
        {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
        <div class="row">
          <Button type="submit" look="primary" busy={operation.isBusy}>
            Connect
          </Button>
          {operation.isBusy && (
            <>
              <Spinner label={`Connecting to ${makeVisible(hostOf(url))}`} />
              <span class="soft">
                <Elapsed since={startedAt} key={startedAt} />
              </span>
            </>
          )}
        </div>
      </form>
    </Card>
  );
}

/** Two of one name could not be told apart, by agents neither. The same server again is no second one. */
function findNameProblem(name: string, url: string): string | null {
  if (name === "") return "Give it a name, such as Linear.";
  const others = mcpServers.value.value?.servers.filter((one) => one.name.toLowerCase() === name.toLowerCase()) ?? [];
  return others.some((one) => one.url !== url) ? "You have a server of that name. Give this one another." : null;
}

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

/** People leave out the scheme. Servers on the gateway's own computer rarely speak https. */
function completeUrl(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.includes("://")) return trimmed;
  const isLocal = LOCAL.some((host) => trimmed.startsWith(host) && /^$|^[:/?]/.test(trimmed.slice(host.length)));
  return `${isLocal ? "http" : "https"}://${trimmed}`;
}

function findAddressProblem(url: string): string | null {
  const { protocol = "", hostname = "", username = "", password = "" } = URL.canParse(url) ? new URL(url) : {};
  if (username !== "" || password !== "") return "Leave the user name and password out of it: a header below is for keys.";
  // Browsers disagree about spaces in the name of a host.
  if (!isHttpUrl(url) || hostname.includes("%")) return "Enter the address of the server, such as https://mcp.linear.app/mcp.";
  if (protocol === "https:" || LOCAL.includes(hostname)) return null;
  return "It must begin with https, so that nobody on the way can read or change what is sent.";
}

/** "Linear" for mcp.linear.app. */
function suggestName(url: string): string {
  if (!isHttpUrl(url)) return "";
  const { hostname } = new URL(url);
  if (/^[\d.]+$|^\[|^localhost$/.test(hostname)) return hostname;
  const labels = hostname.split(".").filter((label) => !/^(?:www|mcp|api)$/.test(label));
  const word = labels[0] ?? hostname;
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
