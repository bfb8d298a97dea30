// OAuth accounts and sign-ins that are in progress, on the wire, as schemas. No token is ever part of them. Field names are those of the
// specification.

import { z } from "zod";

export const OAuthConnectionKind = z.enum(["ai-provider", "mcp-server", "generic"], {
  error: "kind must be one of: ai-provider, mcp-server, generic",
});
export type OAuthConnectionKind = z.infer<typeof OAuthConnectionKind>;

const Connection = {
  uid: z.int(),
  kind: OAuthConnectionKind,
  provider: z.string(),
  accountKey: z.string(),
  label: z.string().nullable(),
  scope: z.string().nullable(),
  resource: z.string().nullable(),
  clientId: z.string(),
  createdAt: z.number(),
};

export const OAuthFlowSummary = z.object({
  flowId: z.string(),
  ...Connection,
  authorizationEndpoint: z.string(),
  tokenEndpoint: z.string(),
  redirectUri: z.string(),
  expiresAt: z.number(),
});
export type OAuthFlowSummary = z.infer<typeof OAuthFlowSummary>;

export const OAuthAccountSummary = z.object({
  accountId: z.string(),
  ...Connection,
  tokenType: z.string(),
  expiresAt: z.number().nullable(),
  updatedAt: z.number(),
  lastUsedAt: z.number().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  /** needs_login: the provider no longer accepts it, so its owner must sign in again. */
  state: z.enum(["active", "needs_login"]),
  /** Names of the MCP servers that use it. */
  usedBy: z.array(z.string()),
});
export type OAuthAccountSummary = z.infer<typeof OAuthAccountSummary>;
