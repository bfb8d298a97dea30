// Listens at the token endpoint of an authorization server: which secrets it was sent and gave out, and holds its answers back.

import type { ServerResponse } from "node:http";
import type { TestAuthorizationServer } from "../../support/oauth/authorization-server.ts";

export type WatchedProvider = TestAuthorizationServer & {
  /** All tokens that it gave out, oldest first. */
  readonly given: { access: string[]; refresh: string[] };
  /** How often anybody asked for a token. */
  readonly asked: { count: number };
  /** The next answer of the token endpoint is kept; resolves once it would have been sent. */
  keepNextAnswer(): Promise<void>;
};

export function watchTokens(server: TestAuthorizationServer): WatchedProvider {
  const given = { access: [] as string[], refresh: [] as string[] };
  const asked = { count: 0 };
  let keep: (() => void) | null = null;
  const handle = server.handle.bind(server);
  server.handle = async (request, response) => {
    if (new URL(request.url ?? "/", server.issuer).pathname === "/token") {
      asked.count++;
      onEnd(response, (text, send) => {
        const answer = parse(text);
        if (typeof answer["access_token"] === "string") given.access.push(answer["access_token"]);
        if (typeof answer["refresh_token"] === "string") given.refresh.push(answer["refresh_token"]);
        const kept = keep;
        keep = null;
        if (kept === null) send();
        else kept();
      });
    }
    await handle(request, response);
  };
  const keepNextAnswer = () => new Promise<void>((resolve) => (keep = resolve));
  return Object.assign(server, { given, asked, keepNextAnswer });
}

/** The server answers with one call of `end`. */
function onEnd(response: ServerResponse, onText: (text: string, send: () => void) => void): void {
  const end = response.end.bind(response) as (body?: unknown) => ServerResponse;
  response.end = ((body?: unknown) => {
    onText(Buffer.isBuffer(body) ? body.toString() : typeof body === "string" ? body : "", () => void end(body));
    return response;
  }) as typeof response.end;
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
