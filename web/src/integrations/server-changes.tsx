// Tools of a server that are new, or differ from what was accepted: each before and after, and a button that accepts exactly what is
// shown. The buttons take only a fresh press, because what is shown may change at any time.

import { makeVisible } from "../../../src/approval/visible.ts";
import { type FreshPress, useFreshPress } from "../approvals/fresh-press.ts";
import { call } from "../state/call.ts";
import { type McpServer, mcpServers, putMcpServer } from "../state/mcp-servers.ts";
import { showNotice } from "../state/notices.ts";
import { type Operation, useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { formatSchema } from "./strange-text.tsx";
import { TextDiff } from "../ui/text-diff.tsx";

type Change = McpServer["changes"][number];

export function ServerChanges({ server }: { server: McpServer }) {
  // Why something was not accepted is said beside what is to be accepted instead.
  const operation = useOperation();
  return <Changes key={server.changes.map(({ name, hash }) => `${name} ${hash}`).join()} {...{ server, operation }} />;
}

/** Mounted anew when something else is to be accepted. */
function Changes({ server: { serverId, changes }, operation }: { server: McpServer; operation: Operation }) {
  const freshPress = useFreshPress();
  const hasChanged = changes.some(({ kind }) => kind === "changed");
  const accept = async (accepted: readonly Change[]) => {
    const tools = accepted.map(({ name, hash }) => ({ name, hash }));
    const isAccepted = await operation.run(async () => putMcpServer((await call("sys.mcp.accept", { serverId, tools })).server));
    if (!isAccepted) return void mcpServers.refetch();
    showNotice(
      `Accepted: agents can call ${accepted.length === 1 ? makeVisible(accepted[0]!.name) : `${accepted.length} more tools`}`,
      "good",
    );
  };
  return (
    <div {...freshPress.pressHandlers} class="changes" data-ready={freshPress.isReady}>
      <Card
        title={hasChanged ? "Review what has changed" : "Review new tools"}
        text={`${hasChanged ? "The server no longer describes these tools as you accepted them" : "You have not accepted these tools yet"}, so they are not called. Agents read these words: accept them only if they say nothing but what the tool is for. What you do not accept stays blocked, and what you had allowed beforehand is asked about again.`}
      >
        <ul class="entries">
          {changes.map((change) => (
            <li class="change" key={change.name}>
              <header class="change-head">
                <h3>
                  <code>{makeVisible(change.name)}</code>
                </h3>
                <Badge tone="warn">{change.kind === "new" ? "New" : "Changed"}</Badge>
              </header>
              <ChangedParts change={change} />
              <div>
                <AcceptButton
                  label="Accept"
                  what={`Accept ${makeVisible(change.name)}`}
                  {...{ operation, freshPress }}
                  onAccept={() => void accept([change])}
                />
              </div>
            </li>
          ))}
        </ul>
        {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
        {changes.length > 1 && (
          <div>
            <AcceptButton label={`Accept all ${changes.length}`} {...{ operation, freshPress }} onAccept={() => void accept(changes)} />
          </div>
        )}
      </Card>
    </div>
  );
}

type AcceptButtonProps = { label: string; what?: string; operation: Operation; freshPress: FreshPress; onAccept: () => void };

function AcceptButton({ label, what = label, operation, freshPress, onAccept }: AcceptButtonProps) {
  return (
    <Button aria-label={what} disabled={!freshPress.isReady || operation.isBusy} onClick={freshPress.guard(onAccept)}>
      {label}
    </Button>
  );
}

function ChangedParts({ change: { accepted, offered } }: { change: Change }) {
  const parts = [
    { title: "Description", before: makeVisible(accepted?.description ?? ""), after: makeVisible(offered.description ?? "") },
    { title: "What it takes", before: schemaText(accepted?.inputSchema), after: schemaText(offered.inputSchema) },
    { title: "What it returns", before: schemaText(accepted?.outputSchema), after: schemaText(offered.outputSchema) },
  ].filter(({ before, after }) => before !== after);
  return (
    <div class="stack">
      {parts.map(({ title, before, after }) => (
        <TextDiff key={title} title={title} before={before} after={after} />
      ))}
      {parts.length === 0 && <p class="soft">It says nothing of what it does, takes or returns.</p>}
    </div>
  );
}

function schemaText(schema: Record<string, unknown> | null | undefined): string {
  return schema === null || schema === undefined ? "" : formatSchema(schema);
}
