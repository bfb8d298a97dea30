// The tools of a server that agents can call: what each does, what it takes and returns, and how scripts call it.

import { useMemo, useState } from "preact/hooks";
import { makeCodeVisible } from "../../../src/approval/visible-code.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { declareFunctions } from "../../../src/mcp/declarations.ts";
import { nameFunctions } from "../../../src/mcp/functions.ts";
import type { McpServer } from "../state/mcp-servers.ts";
import { Card } from "../ui/card.tsx";
import { Checkbox } from "../ui/choice.tsx";
import { countOf } from "./server-state.tsx";
import { CodeText, formatSchema } from "./strange-text.tsx";

type Tool = McpServer["tools"][number];
type ScriptFunction = ReturnType<typeof nameFunctions>[number];

/** A page with more is slow and nobody reads it. */
const SHOWN_MAX = 40;

export function ServerTools({ server, servers }: { server: McpServer; servers: readonly McpServer[] }) {
  const { serverId, state, tools, changes } = server;
  const [showsAll, setShowsAll] = useState(false);
  const functions = useMemo(() => functionsByTool(serverId, servers), [serverId, servers]);
  const shown = showsAll ? tools : tools.slice(0, SHOWN_MAX);
  return (
    <Card
      title="Tools"
      text="Agents call them from scripts, by these names, and with the command mcp. Whether you are asked first is up to your approval policy."
    >
      {tools.length === 0 ? (
        <p>{explainNone(state, changes.length)}</p>
      ) : (
        <ul class="entries">
          {shown.map((tool) => (
            <ToolEntry key={tool.name} tool={tool} scriptFunction={functions.get(tool.name)} />
          ))}
        </ul>
      )}
      {tools.length > SHOWN_MAX && <Checkbox label={`Show all ${tools.length} tools`} checked={showsAll} onChecked={setShowsAll} />}
    </Card>
  );
}

function ToolEntry({ tool, scriptFunction }: { tool: Tool; scriptFunction: ScriptFunction | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { name, description } = tool;
  return (
    <li class="tool-entry">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="tool-summary">
          <code class="tool-name">{makeVisible(name)}</code>
          <span class="soft tool-about">{firstLine(makeVisible(description ?? ""))}</span>
        </summary>
        {isOpen && <ToolDetails tool={tool} scriptFunction={scriptFunction} />}
      </details>
    </li>
  );
}

function ToolDetails({ tool, scriptFunction }: { tool: Tool; scriptFunction: ScriptFunction | undefined }) {
  const { name, description, inputSchema, outputSchema } = tool;
  return (
    <div class="tool-details">
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

/** Names depend on the tools of all servers that are ready, oldest first, as the gateway takes them. */
function functionsByTool(serverId: string, servers: readonly McpServer[]): Map<string, ScriptFunction> {
  const ready = servers
    .filter(({ state }) => state === "ready")
    .toSorted((a, b) => a.createdAt - b.createdAt || (a.serverId < b.serverId ? -1 : 1));
  const own = nameFunctions(ready).filter((one) => one.serverId === serverId);
  // The short name comes first, where there is one.
  return new Map(own.toReversed().map((one) => [one.toolName, one]));
}

function explainNone(state: McpServer["state"], changes: number): string {
  if (changes > 0) return `None can be called until you accept what has changed (${countOf(changes, "change")}).`;
  if (state === "authenticating") return "They appear when you have signed in.";
  return state === "failed" ? "They appear when the server can be reached." : "It offers none.";
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
