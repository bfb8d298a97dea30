// The tools of a server that agents can call: what each does, what it takes and returns, and how scripts call it.

import { useMemo, useState } from "preact/hooks";
import { makeCodeVisible } from "../../../src/approval/visible-code.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { declareFunctions } from "../../../src/mcp/declarations.ts";
import { listFunctions } from "../../../src/mcp/functions.ts";
import type { McpServer } from "../state/mcp-servers.ts";
import { Card } from "../ui/card.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { countOf } from "./server-state.tsx";
import { CodeText, formatSchema } from "./strange-text.tsx";

type Tool = McpServer["tools"][number];
type ScriptFunction = ReturnType<typeof listFunctions>[number];

/** A page with more is slow and nobody reads it. */
const SHOWN_MAX = 40;

export function ServerTools({ server, servers }: { server: McpServer; servers: readonly McpServer[] }) {
  const { serverId, state, tools, changes, leftOut } = server;
  const [showsAll, setShowsAll] = useState(false);
  const functions = useMemo(() => functionsByTool(serverId, servers), [serverId, servers]);
  const shown = showsAll ? tools : tools.slice(0, SHOWN_MAX);
  if (tools.length === 0)
    return (
      <Card title="Tools" text={explainNone(state, changes.length)}>
        {leftOut > 0 && <LeftOut count={leftOut} />}
      </Card>
    );
  return (
    <Card title="Tools" text="Your agents can call these. Your approval policy decides when you are asked first.">
      <ul class="entries">
        {shown.map((tool) => (
          <ToolEntry key={tool.name} tool={tool} scriptFunction={functions.get(tool.name)} />
        ))}
      </ul>
      {changes.length > 0 && (
        <p class="soft">
          Blocked until you have accepted {changes.length === 1 ? "its change" : "their changes"} above:{" "}
          {makeVisible(changes.map(({ name }) => name).join(", "))}
        </p>
      )}
      {leftOut > 0 && <LeftOut count={leftOut} />}
      <Others server={server} />
      {tools.length > SHOWN_MAX && <Checkbox label={`Show all ${tools.length} tools`} checked={showsAll} onChecked={setShowsAll} />}
    </Card>
  );
}

function LeftOut({ count }: { count: number }) {
  return <p class="soft">{countOf(count, "more tool")} cannot be used: there are too many, or what the server says of them is too long.</p>;
}

/** People rarely need these, and they have no page of their own. */
function Others({ server: { serverId, name, resourceCount, promptCount } }: { server: McpServer }) {
  // As one word of a command.
  const server = /^[\w.-]+$/.test(name) ? name : serverId;
  const others = [
    { count: resourceCount, what: "resource", command: "mcp resources" },
    { count: promptCount, what: "prompt", command: "mcp prompts" },
  ].filter(({ count }) => count > 0);
  if (others.length === 0) return null;
  return (
    <p class="soft small">
      It also offers {others.map(({ count, what }) => countOf(count, what)).join(" and ")}, which you and your agents read in the gateway's
      shell: {others.map(({ command }, at) => [at > 0 && ", ", <code key={command}>{`${command} ${server}`}</code>])}
    </p>
  );
}

function ToolEntry({ tool, scriptFunction }: { tool: Tool; scriptFunction: ScriptFunction | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { name, description } = tool;
  return (
    <li class="server-tool">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="server-tool-head">
          <code class="server-tool-name">{makeVisible(name)}</code>
          <span class="soft server-tool-about">{firstLine(makeVisible(description ?? ""))}</span>
        </summary>
        {isOpen && <ToolDetails tool={tool} scriptFunction={scriptFunction} />}
      </details>
    </li>
  );
}

function ToolDetails({ tool, scriptFunction }: { tool: Tool; scriptFunction: ScriptFunction | undefined }) {
  const { name, description, inputSchema, outputSchema } = tool;
  return (
    <div class="server-tool-body">
      <p class="strange-text">{makeVisible(description ?? "") || <span class="soft">It says nothing of what it does.</span>}</p>
      {inputSchema !== null && <CodeText title={`What ${makeVisible(name)} takes`} text={formatSchema(inputSchema)} />}
      {outputSchema !== null && <CodeText title={`What ${makeVisible(name)} returns`} text={formatSchema(outputSchema)} />}
      {scriptFunction !== undefined && (
        <CodeText
          title={`In scripts: ${scriptFunction.functionName}`}
          text={makeCodeVisible(declareFunctions([{ ...scriptFunction, description: null }]).trim())}
        />
      )}
    </div>
  );
}

/** Names depend on all servers, and on the tools of those that are ready. */
function functionsByTool(serverId: string, servers: readonly McpServer[]): Map<string, ScriptFunction> {
  const ready = servers.filter(({ state }) => state === "ready");
  const own = listFunctions(ready, servers).filter((one) => one.serverId === serverId);
  // The short name comes first, where there is one.
  return new Map(own.toReversed().map((one) => [one.toolName, one]));
}

function explainNone(state: McpServer["state"], changes: number): string {
  if (state === "authenticating") return "They appear here once you have signed in.";
  if (state === "failed") return "They appear here once the server works.";
  if (changes > 0) return `None can be called until you accept what has changed (${countOf(changes, "change")}).`;
  return state === "ready" ? "There is none to call." : "They appear here once it is connected.";
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
