// The form that connects an MCP server. The gateway tries the connection before it keeps the server; then its own page shows the next
// step.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { Elapsed } from "../chat/elapsed.tsx";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
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

type AddArgs = Args<"sys.mcp.add">;
type TransportType = NonNullable<NonNullable<AddArgs["transport"]>["type"]>;

const TRANSPORTS: { value: TransportType; label: string }[] = [
  { value: "auto", label: "Find out" },
  { value: "streamable-http", label: "Streamable HTTP" },
  { value: "sse", label: "SSE, of older servers" },
];

export function AddServer({ pane }: { pane: PaneName }) {
  usePaneTitle("Add a server");
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
    name: name.trim() === "" ? "By which you and your agents call it, such as Linear." : null,
    headers: sent.map(findHeaderProblem).find((problem) => problem !== null) ?? null,
    client: clientSecret !== "" && clientId.trim() === "" ? "The client ID is missing." : null,
  };
  const isValid = Object.values(problems).every((problem) => problem === null);
  const args: AddArgs = {
    name: name.trim(),
    url,
    transport: { type, ...(sent.length === 0 ? {} : { headers: Object.fromEntries(sent.map((one) => [one.name.trim(), one.value])) }) },
    ...(clientId.trim() === "" ? {} : { oauth: { clientId: clientId.trim(), ...(clientSecret === "" ? {} : { clientSecret }) } }),
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
      text="Its tools run as you, with what you let the server do. Add only servers you trust; your agents read what their tools say."
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
          hint="From the service's own page about MCP, such as https://mcp.linear.app/mcp."
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
          hint="By which you and your agents call it, such as Linear."
          error={isSubmitted ? problems.name : null}
          value={name}
          onValue={setName}
          maxLength={80}
          autocomplete="off"
        />
        <details ref={more}>
          <summary>More: transport, headers, a registered client</summary>
          <div class="stack more-fields">
            <Select label="Transport" value={type} options={TRANSPORTS} onValue={setType} />
            <HeaderFields headers={headers} problem={isSubmitted ? problems.headers : null} onHeaders={setHeaders} />
            <p class="soft small">
              Most servers register GSV by themselves when you sign in. Some want a client that you register with them first, with the
              callback address <code>{location.origin}/oauth/callback</code>.
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
                hint="If it has one. It is stored encrypted and never shown again."
                type="password"
                value={clientSecret}
                onValue={setClientSecret}
                maxLength={4_096}
                autocomplete="new-password"
              />
            </div>
          </div>
        </details>
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
        <div class="row">
          <Button type="submit" look="primary" busy={operation.isBusy}>
            Connect
          </Button>
          {operation.isBusy && (
            <>
              <Spinner label={`Connecting to ${new URL(url).host}`} />
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

/** People leave out the scheme. */
function completeUrl(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || trimmed.includes("://") ? trimmed : `https://${trimmed}`;
}

function findAddressProblem(url: string): string | null {
  if (!isHttpUrl(url)) return "The address of the server, such as https://mcp.linear.app/mcp.";
  const { protocol, hostname } = new URL(url);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return protocol === "http:" && !isLocal ? "It must begin with https, so that nobody on the way can read or change it." : null;
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
