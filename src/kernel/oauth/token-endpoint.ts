// Requests to the token endpoint of an OAuth provider: exchanges a code, and refreshes tokens. Never follows a redirect.

import { z } from "zod";
import { toBase64 } from "../../lib/base64.ts";
import { type Net, NetError } from "../../ports/net.ts";
import type { TokenAuth } from "../nouns/oauth-flows.ts";

const TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const MS_MAX = 10 * 365 * 24 * 60 * 60 * 1000;

export type OAuthClientCredential = { tokenEndpoint: string; clientId: string; clientSecret: string | null; tokenAuth: TokenAuth };

export type Tokens = {
  accessToken: string;
  refreshToken: string | null;
  tokenType: string;
  expiresAt: number | null;
  scope: string | null;
};

/** What a provider says where asking again is of no use; GitHub's word is the last. */
const FINAL: ReadonlySet<string> = new Set([
  ..."invalid_request invalid_client invalid_grant unauthorized_client unsupported_grant_type invalid_scope".split(" "),
  "bad_refresh_token",
]);

/** `isFinal`: the provider refuses the grant, so that asking again is of no use. */
export class TokenError extends Error {
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.name = "TokenError";
    this.isFinal = isFinal;
  }
}

/** What can be sent in a header. */
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);

const Answer = z.object({
  access_token: Token,
  token_type: z.string().max(100).optional(),
  refresh_token: Token.optional(),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
  scope: z.string().max(4_000).optional().catch(undefined),
});

const Refusal = z.object({ error: z.string().max(200), error_description: z.string().optional().catch(undefined) });

export async function requestTokens(
  net: Net,
  client: OAuthClientCredential,
  grant: Readonly<Record<string, string>>,
  now: () => number,
  signal?: AbortSignal,
): Promise<Tokens> {
  const headers: Record<string, string> = { accept: "application/json", "content-type": "application/x-www-form-urlencoded" };
  const form = new URLSearchParams(grant);
  if (client.tokenAuth === "client_secret_basic") {
    headers.authorization = `Basic ${toBase64(new TextEncoder().encode(`${encode(client.clientId)}:${encode(client.clientSecret ?? "")}`))}`;
  } else {
    form.set("client_id", client.clientId);
    if (client.tokenAuth === "client_secret_post") form.set("client_secret", client.clientSecret ?? "");
  }
  const { status, text } = await post(net, client.tokenEndpoint, headers, form, signal);
  const data = parseJson(text);
  if (status !== 200) {
    const { success, data: refusal } = Refusal.safeParse(data);
    const why = success ? describeRefusal(refusal) : `it answered with HTTP ${status}`;
    const isFinal = success && (status === 400 || status === 401) && FINAL.has(refusal.error);
    throw new TokenError(`The provider gave no token: ${why}`, isFinal);
  }
  const answer = Answer.safeParse(data);
  if (!answer.success) {
    // Some providers refuse with 200. A page about maintenance is no refusal.
    const refusal = Refusal.safeParse(data);
    const why = refusal.success ? describeRefusal(refusal.data) : "its answer has no access_token that can be used";
    throw new TokenError(`The provider gave no token: ${why}`, refusal.success && FINAL.has(refusal.data.error));
  }
  const { access_token, token_type = "Bearer", refresh_token = null, expires_in, scope = null } = answer.data;
  if (token_type.toLowerCase() !== "bearer") throw new TokenError("The provider gave a token of a type that GSV does not use", true);
  const expiresAt = expires_in === undefined ? null : now() + Math.min(expires_in * 1000, MS_MAX);
  return { accessToken: access_token, refreshToken: refresh_token, tokenType: "Bearer", expiresAt, scope };
}

async function post(
  net: Net,
  url: string,
  headers: Record<string, string>,
  form: URLSearchParams,
  signal: AbortSignal | undefined,
): Promise<{ status: number; text: string }> {
  try {
    const { status, body } = await net.fetch(
      { url, method: "POST", headers, body: new TextEncoder().encode(form.toString()) },
      { redirects: "manual", timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX, signal },
    );
    return { status, text: await new Response(body).text() };
  } catch (error) {
    if (error instanceof NetError) throw new TokenError(`The provider cannot be reached: ${error.message}`, false);
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

const WHY_CHARS_MAX = 200;

/** Text of the provider, on one line. */
function describeRefusal({ error, error_description: description }: z.output<typeof Refusal>): string {
  const text = description === undefined ? error : `${error}, ${description}`;
  return text
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, WHY_CHARS_MAX);
}

/** RFC 6749, 2.3.1: the form encoding, before base64. */
function encode(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}
