// Starts a sign-in with an OAuth provider.

import { z } from "zod";
import { OAuthConnectionKind, OAuthFlowSummary } from "../../../../protocol/oauth-records.ts";
import { Uid } from "../../../../protocol/records.ts";
import { syscall } from "../../define.ts";

/** A text of one line. */
const line = (name: string, max: number) =>
  z
    .string({ error: (issue) => (issue.input === undefined ? `${name} is required` : `${name} must be a string`) })
    .trim()
    .min(1, { error: `${name} is required` })
    .max(max, { error: `${name} is too long` })
    .regex(/^[^\p{Cc}]*$/u, { error: `${name} must not contain control characters` });

/** These are set by the gateway. */
const OWN_PARAMS = ["client_id", "code_challenge", "code_challenge_method", "redirect_uri", "response_type", "scope", "state"];
const PARAM_NAME = /^[A-Za-z0-9_.:-]+$/;
const PARAMS_MAX = 50;

export default syscall({
  name: "sys.oauth.start",
  doc: "Start a sign-in with an OAuth provider: the authorization code flow with PKCE. The person opens authorizationUrl within ten minutes; the provider returns them to /oauth/callback of this gateway, and the account is then in sys.oauth.list. Tokens are stored encrypted, refreshed by the gateway, and shown to nobody. clientId may be the address of /.well-known/oauth-client/gsv.json if the provider accepts client metadata. MCP servers start their own sign-ins (sys.mcp.add, sys.mcp.refresh); their accounts are of kind mcp-server.",
  runs: "kernel",
  does: "effect",
  changes: "oauth",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    uid: Uid.optional(),
    kind: OAuthConnectionKind,
    provider: line("provider", 200),
    accountKey: line("accountKey", 200).optional(),
    label: line("label", 200).optional(),
    authorizationEndpoint: line("authorizationEndpoint", 2_048),
    tokenEndpoint: line("tokenEndpoint", 2_048),
    clientId: line("clientId", 512),
    redirectUri: line("redirectUri", 2_048),
    scope: line("scope", 1_000).optional(),
    resource: line("resource", 2_048).optional(),
    extraAuthParams: z
      .record(z.string().max(100), line("extraAuthParams", 2_048))
      .refine((params) => Object.keys(params).every((name) => PARAM_NAME.test(name)), {
        error: "extraAuthParams has a name that is not allowed",
      })
      .refine((params) => OWN_PARAMS.every((name) => params[name] === undefined), {
        error: ({ input }) => `extraAuthParams cannot override ${OWN_PARAMS.find((name) => Object.hasOwn(Object(input), name))}`,
      })
      .refine((params) => Object.keys(params).length <= PARAMS_MAX, { error: `extraAuthParams has at most ${PARAMS_MAX} entries` })
      .optional(),
  }),
  result: z.object({ authorizationUrl: z.string(), flow: OAuthFlowSummary }),
  fails: {
    400: "an address is not valid, or redirectUri is not /oauth/callback of this gateway",
    403: "uid names another user",
    404: "the uid that root named does not exist",
    429: "too many sign-ins are in progress",
  },
  example: {
    args: {
      kind: "generic",
      provider: "example",
      authorizationEndpoint: "https://id.example/authorize",
      tokenEndpoint: "https://id.example/token",
      clientId: "gsv",
      redirectUri: "https://gsv.example/oauth/callback",
    },
    result: {
      authorizationUrl: "https://id.example/authorize?response_type=code&client_id=gsv&...",
      flow: {
        flowId: "9b2f6d0c-6a1f-4b8e-9d0e-2f0f6b1f7a11",
        uid: 1000,
        kind: "generic",
        provider: "example",
        accountKey: "default",
        label: null,
        authorizationEndpoint: "https://id.example/authorize",
        tokenEndpoint: "https://id.example/token",
        clientId: "gsv",
        redirectUri: "https://gsv.example/oauth/callback",
        scope: null,
        resource: null,
        createdAt: 1763200000000,
        expiresAt: 1763200600000,
      },
    },
  },
  run({ oauth }, caller, args) {
    return oauth.start(caller, args);
  },
});
