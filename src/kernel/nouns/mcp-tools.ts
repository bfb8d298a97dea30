// The tools of MCP servers. Owns mcp_tools. The first list of a server is accepted as it is; later a tool can be called only as its owner
// accepted it: one that is new or differs waits in `changes`.

import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Crypto } from "../../ports/crypto.ts";
import type { Sql } from "../../ports/sql.ts";
import type { McpToolChange, McpToolSummary } from "../../protocol/mcp-records.ts";

/** In the error about a tool that does not exist. */
const NAMED_MAX = 20;

export class McpTools {
  readonly #sql: Sql;
  readonly #crypto: Pick<Crypto, "sha256">;

  constructor(sql: Sql, crypto: Pick<Crypto, "sha256">) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /** Those that are offered as they were accepted, and those that wait. */
  list(serverId: string): { tools: McpToolSummary[]; changes: McpToolChange[] } {
    const rows = this.#sql.all("SELECT * FROM mcp_tools WHERE server_id = ? ORDER BY position, name", serverId);
    return {
      tools: rows.flatMap(({ accepted, offered }) => (accepted !== null && accepted === offered ? parseTool(accepted) : [])),
      changes: rows.flatMap(({ name, accepted, offered }) =>
        offered === null || accepted === offered ? [] : this.#toChange(String(name), accepted as string | null, String(offered)),
      ),
    };
  }

  findAccepted(serverId: string, name: string): McpToolSummary | undefined {
    const row = this.#sql.get("SELECT accepted FROM mcp_tools WHERE server_id = ? AND name = ? AND accepted IS NOT NULL", serverId, name);
    return row && parseTool(row.accepted);
  }

  /** Fails unless the tool is offered as it was accepted. `isComplete`: there is no tool but those that are stored. */
  check(serverId: string, name: string, serverName: string, isComplete: boolean): void {
    const tool = this.#sql.get("SELECT accepted, offered FROM mcp_tools WHERE server_id = ? AND name = ?", serverId, name);
    if (tool?.offered != null) {
      if (tool.accepted === tool.offered) return;
      const isNew = tool.accepted === null;
      const what = isNew ? "is new" : "has changed since it was accepted";
      fail(409, `${name} of ${serverName} ${what}, so it was not called. Its owner can look at it in Integrations, or with mcp changes`);
    }
    if (!isComplete) return;
    const names = this.#sql
      .all("SELECT name FROM mcp_tools WHERE server_id = ? AND accepted = offered ORDER BY position, name LIMIT ?", serverId, NAMED_MAX + 1)
      .map((row) => String(row.name));
    const shown = names.length > NAMED_MAX ? [...names.slice(0, NAMED_MAX), "..."] : names;
    fail(404, `${serverName} has no tool ${name}. It has: ${shown.length === 0 ? "none" : shown.join(", ")}`);
  }

  /** Stores what a server offers. */
  record(serverId: string, offered: readonly McpToolSummary[], isFirst: boolean): void {
    this.#sql.run("UPDATE mcp_tools SET offered = NULL WHERE server_id = ?", serverId);
    for (const [position, tool] of offered.entries()) {
      const definition = JSON.stringify(tool);
      this.#sql.run(
        `INSERT INTO mcp_tools VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (server_id, name) DO UPDATE SET position = ?3, offered = ?5`,
        serverId,
        tool.name,
        position,
        isFirst ? definition : null,
        definition,
      );
    }
    // A tool that was offered and withdrawn before anybody accepted it.
    this.#sql.run("DELETE FROM mcp_tools WHERE server_id = ? AND accepted IS NULL AND offered IS NULL", serverId);
  }

  /** Fails if one of the tools is no longer offered with that hash. */
  accept(serverId: string, tools: readonly { name: string; hash: string }[]): void {
    for (const { name, hash } of tools) {
      const row = this.#sql.get("SELECT offered FROM mcp_tools WHERE server_id = ? AND name = ?", serverId, name);
      if (row?.offered == null || this.#hash(String(row.offered)) !== hash)
        fail(409, `${name} has changed again since it was shown: look at it once more. Nothing was accepted`);
      this.#sql.run("UPDATE mcp_tools SET accepted = offered WHERE server_id = ? AND name = ?", serverId, name);
    }
  }

  removeOf(serverId: string): void {
    this.#sql.run("DELETE FROM mcp_tools WHERE server_id = ?", serverId);
  }

  #toChange(name: string, accepted: string | null, offered: string): McpToolChange {
    return {
      name,
      kind: accepted === null ? "new" : "changed",
      hash: this.#hash(offered),
      accepted: accepted === null ? null : parseTool(accepted),
      offered: parseTool(offered),
    };
  }

  #hash(definition: string): string {
    return toHex(this.#crypto.sha256(`mcp tool ${definition}`));
  }
}

function parseTool(definition: unknown): McpToolSummary {
  return JSON.parse(String(definition)) as McpToolSummary;
}
