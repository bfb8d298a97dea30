// The two pages of OAuth: where providers return people to, and the document that describes this gateway as a client.

import type { OAuthFlow } from "../nouns/oauth-flows.ts";
import type { CallbackOutcome } from "../oauth/oauth.ts";
import { CALLBACK_PATH } from "../oauth/oauth.ts";

/** `origin` is the gateway's own address. */
export function makeClientMetadata(clientId: string, origin: string) {
  return {
    client_id: clientId,
    client_name: "GSV",
    client_uri: origin,
    application_type: "web",
    response_types: ["code"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
    redirect_uris: [`${origin}${CALLBACK_PATH}`],
    code_challenge_methods_supported: ["S256"],
  };
}

export function makeCallbackPage(outcome: CallbackOutcome): { status: 200 | 400 | 502; html: string } {
  if (!outcome.ok) return { status: outcome.status, html: page(outcome.title, outcome.message, outcome.flow) };
  const what = outcome.flow.serverId === null ? outcome.label : `${outcome.label}, an MCP server`;
  // Names the user: nobody should sign in for somebody else who sent them the link.
  const message = `GSV is now signed in to ${what}, for its user ${outcome.username}. You can close this window and go back to GSV.`;
  return { status: 200, html: page("Signed in", message, outcome.flow) };
}

/** Text of providers and users is escaped. */
function page(title: string, message: string, flow: OAuthFlow | null): string {
  const path = flow === null || flow.serverId === null ? "/integrations/accounts" : `/integrations/server/${flow.serverId}`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)} - GSV</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:16vh auto;padding:0 1rem;color-scheme:light dark;overflow-wrap:anywhere}h1{font-size:1.5rem}</style>
<main><h1>${escape(title)}</h1><p>${escape(message)}</p><p><a href="${escape(path)}">Open Integrations in GSV</a></p></main>
</html>
`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
