// MCP servers and their tools on the wire, as schemas. Field names are those of the specification.

import { z } from "zod";

export const McpTransportType = z.enum(["auto", "streamable-http", "sse"], {
  error: "transport.type must be auto, streamable-http, or sse",
});
export type McpTransportType = z.infer<typeof McpTransportType>;

/** A server is ready if its tools can be called; the connection itself is opened for a call and closed when it is idle. */
export const McpConnectionState = z.enum(["not-connected", "authenticating", "connecting", "connected", "discovering", "ready", "failed"]);
export type McpConnectionState = z.infer<typeof McpConnectionState>;

const Schema = z.record(z.string(), z.unknown());

export const McpToolSummary = z.object({
  name: z.string(),
  description: z.string().nullable(),
  inputSchema: Schema.nullable(),
  outputSchema: Schema.nullable(),
});
export type McpToolSummary = z.infer<typeof McpToolSummary>;

/**
 * A tool that cannot be called until its owner accepts what the server now says of it: it is new, or it differs from what was accepted
 * before. `hash` names the definition that was shown.
 */
export const McpToolChange = z.object({
  name: z.string(),
  kind: z.enum(["new", "changed"]),
  hash: z.string(),
  accepted: McpToolSummary.nullable(),
  offered: McpToolSummary,
});
export type McpToolChange = z.infer<typeof McpToolChange>;

export const McpServerSummary = z.object({
  serverId: z.string(),
  uid: z.int(),
  name: z.string(),
  url: z.string(),
  transport: McpTransportType,
  state: McpConnectionState,
  /** Where its owner signs in, while the state is authenticating. */
  authUrl: z.string().nullable(),
  error: z.string().nullable(),
  instructions: z.string().nullable(),
  capabilities: z.record(z.string(), z.unknown()).nullable(),
  /** The tools that can be called. */
  tools: z.array(McpToolSummary),
  changes: z.array(McpToolChange),
  /** Tools whose definitions are too large, or beyond the limits. */
  leftOut: z.int(),
  resourceCount: z.int(),
  promptCount: z.int(),
  /** Names of the headers that are sent with every request; their values are secret. */
  headers: z.array(z.string()),
  /** The account that is used to sign in. */
  accountId: z.string().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type McpServerSummary = z.infer<typeof McpServerSummary>;

/** Of the argument `serverId` of every call. */
export const McpServerId = z.string({ error: "serverId is required" }).min(1, { error: "serverId is required" }).max(64);

/** What tests and reference pages show. */
export const MCP_SERVER_EXAMPLE: McpServerSummary = {
  serverId: "k3x9d2p1",
  uid: 1000,
  name: "Linear",
  url: "https://mcp.linear.example/mcp",
  transport: "auto",
  state: "ready",
  authUrl: null,
  error: null,
  instructions: null,
  capabilities: { tools: {} },
  tools: [{ name: "list_issues", description: "List issues.", inputSchema: { type: "object" }, outputSchema: null }],
  changes: [],
  leftOut: 0,
  resourceCount: 0,
  promptCount: 0,
  headers: [],
  accountId: null,
  createdAt: 1763200000000,
  updatedAt: 1763200000000,
};
