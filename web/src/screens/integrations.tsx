// Integrations: MCP servers, accounts at providers, and skills, each a tab. A server and a skill have their own addresses.

import { makeVisible } from "../../../src/approval/visible.ts";
import { AccountList } from "../integrations/account-list.tsx";
import { AddServer } from "../integrations/add-server.tsx";
import { NewSkill } from "../integrations/new-skill.tsx";
import { Server } from "../integrations/server.tsx";
import { ServerList } from "../integrations/server-list.tsx";
import { Skill } from "../integrations/skill.tsx";
import { SkillList } from "../integrations/skill-list.tsx";
import { useActions } from "../frame/actions.ts";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { mcpServers, waitingServerCount } from "../state/mcp-servers.ts";
import { mayCall } from "../state/session.ts";
import { joinClasses } from "../ui/classes.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { Tabs } from "../ui/tabs.tsx";
import type { ScreenProps } from "./screens.ts";
import "../integrations/integrations.css";

const PARTS = [
  { value: "servers", title: "MCP servers", needs: "sys.mcp.list" },
  { value: "accounts", title: "Accounts", needs: "sys.oauth.list" },
  { value: "skills", title: "Skills", needs: "ai.skills" },
] as const;
type Part = (typeof PARTS)[number]["value"];

export default function Integrations({ rest: [part, id], pane }: ScreenProps) {
  // Here, not in the pages: one that goes takes its title away only after the next one has set its own.
  usePaneTitle(titleOf(part, id));
  useActions(() => makeActions(pane), [pane]);
  return (
    <div class={joinClasses("integrations", part === "skill" && "integrations-wide")}>
      {part === "add" ? (
        <AddServer pane={pane} />
      ) : part === "new-skill" ? (
        <NewSkill pane={pane} />
      ) : part === "server" && id !== undefined ? (
        <Server serverId={id} pane={pane} key={id} />
      ) : part === "skill" && id !== undefined ? (
        <Skill id={id} pane={pane} key={id} />
      ) : (
        <Parts part={PARTS.find(({ value }) => value === part)?.value ?? "servers"} pane={pane} />
      )}
    </div>
  );
}

/** Null for the lists. */
function titleOf(part: string | undefined, id = ""): string | null {
  if (part === "add") return "Add a server";
  if (part === "new-skill") return "Write a skill";
  if (part === "server") return makeVisible(mcpServers.value.value?.servers.find(({ serverId }) => serverId === id)?.name ?? "MCP server");
  // The ids of two skills of one name say where each is from.
  return part === "skill" ? makeVisible(id.replace(/^(?:home|profile|workspace|package):/, "")) : null;
}

function Parts({ part, pane }: { part: Part; pane: PaneName }) {
  const waiting = waitingServerCount.value;
  const parts = PARTS.filter(({ needs }) => mayCall(needs));
  const tabs = parts.map(({ value, title }) => ({
    value,
    title: value === "servers" && waiting > 0 ? `${title} (${waiting} waiting)` : title,
  }));
  const shown = parts.find(({ value }) => value === part) ?? parts[0];
  if (shown === undefined)
    return <EmptyState icon="integration" title="Nothing here is yours to use" text="Root decides who may connect servers and accounts." />;
  return (
    <Tabs label="Integrations" value={shown.value} tabs={tabs} onValue={(to) => go(pathOf(to), { pane })}>
      {shown.value === "servers" && <ServerList pane={pane} />}
      {shown.value === "accounts" && <AccountList />}
      {shown.value === "skills" && <SkillList pane={pane} />}
    </Tabs>
  );
}

function pathOf(part: Part): string {
  return part === "servers" ? joinPath("integrations") : joinPath("integrations", part);
}

function makeActions(pane: PaneName) {
  const open = (...parts: string[]) => go(joinPath("integrations", ...parts), { pane });
  const group = "Integrations";
  return [
    { id: "integrations.add", title: "Add an MCP server", group, words: "connect tools plugin", run: () => open("add") },
    { id: "integrations.accounts", title: "Integrations: Accounts", group, words: "oauth sign in login", run: () => open("accounts") },
    { id: "integrations.skills", title: "Integrations: Skills", group, words: "instructions", run: () => open("skills") },
    { id: "integrations.skill", title: "Write a skill", group, words: "new instructions", run: () => open("new-skill") },
  ];
}
