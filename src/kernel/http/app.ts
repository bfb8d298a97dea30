// The gateway's HTTP routes, the same on both hosts. The hosts handle the WebSocket upgrade at /ws themselves.

import { Hono } from "hono";
import { concat } from "../../lib/bytes.ts";
import { cliCommand } from "../../lib/gsv-at.ts";
import { type ReadDownload, serveDownload } from "./downloads.ts";
import { CALLBACK_PATH, CLIENT_METADATA_PATH, type CallbackOutcome } from "../oauth/oauth.ts";
import { makeCallbackPage, makeClientMetadata } from "./oauth.ts";
import type { PushAnswerOutcome } from "../push/push-answers.ts";
import { PUSH_ANSWER_PATH } from "../../protocol/push-message.ts";
import { serveWeb } from "./web.ts";

/** `address` is the peer's address, `origin` the gateway origin that the peer used; both are determined by the host. */
export type HttpApp = Hono<{ Bindings: { address: string; origin: string } }>;

export type HttpServices = {
  version: string;
  startedAt: number;
  isSetupMode: () => boolean;
  isOperator: (token: string) => boolean;
  /** Null if the host has no metrics page. */
  metrics: (() => Promise<string>) | null;
  serveGit: (request: Request, address: string) => Promise<Response>;
  /** Handles what an OAuth provider sends a person back with. */
  finishSignIn: (params: URLSearchParams, origin: string) => Promise<CallbackOutcome>;
  /** Handles the answer that a service worker sends to a question. */
  answerPush: (sent: unknown, address: string, signal: AbortSignal) => Promise<PushAnswerOutcome>;
  /** Logs an error that was thrown here; returns the incident id. */
  logIncident: (error: unknown, address: string) => string;
  downloads: ReadDownload;
};

const PUSH_ANSWER_BYTES_MAX = 4 * 1024;
const HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

export function makeHttpApp(services: HttpServices): HttpApp {
  const app: HttpApp = new Hono();
  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) if (!context.res.headers.has(name)) context.res.headers.set(name, value);
  });
  // Hono's default handler would write every error to the console, without any rate limit.
  app.onError((error, context) => context.text(`Internal error (incident ${services.logIncident(error, context.env.address)})\n`, 500));
  app.get("/healthz", (context) =>
    context.json({ status: "ok", version: services.version, setupMode: services.isSetupMode(), startedAt: services.startedAt }, 200, {
      "cache-control": "no-store",
    }),
  );
  app.all("/health", (context) => context.json({ status: "healthy" }));
  app.get("/metrics", async (context) => {
    if (services.metrics === null) return context.text("Not found\n", 404);
    const token = /^Bearer (\S+)$/.exec(context.req.header("authorization") ?? "")?.[1];
    if (token === undefined || !services.isOperator(token)) {
      return context.text("A user token of root is required: Authorization: Bearer <token>\n", 401, { "www-authenticate": "Bearer" });
    }
    return context.text(await services.metrics(), 200, { "content-type": "text/plain; version=0.0.4" });
  });
  app.get(CALLBACK_PATH, async (context) => {
    const outcome = await services.finishSignIn(new URL(context.req.url).searchParams, context.env.origin);
    const { status, html } = makeCallbackPage(outcome);
    return context.html(html, status, { "cache-control": "no-store" });
  });
  app.get(CLIENT_METADATA_PATH, (context) => {
    const { origin } = context.env;
    const headers = { "cache-control": "no-store", "access-control-allow-origin": "*" };
    return context.json(makeClientMetadata(`${origin}${CLIENT_METADATA_PATH}`, origin), 200, headers);
  });
  app.post(PUSH_ANSWER_PATH, async (context) => {
    const sent = await readJson(context.req.raw, PUSH_ANSWER_BYTES_MAX);
    const { status, body } = await services.answerPush(sent, context.env.address, context.req.raw.signal);
    return context.json(body, status as 200, { "cache-control": "no-store" });
  });
  app.all("/git/*", (context) => services.serveGit(context.req.raw, context.env.address));
  app.all("/downloads/cli/*", (context) => serveDownload(context.req.raw, context.env.origin, services.downloads));
  app.notFound(
    async (context) => (await serveWeb(context.req.raw, context.env.origin, services.downloads)) ?? context.text("Not found\n", 404),
  );
  app.get("/", async (context) => {
    const desktop = await serveWeb(context.req.raw, context.env.origin, services.downloads);
    return desktop ?? context.html(landingPage(services, context.env.origin), 200, { "cache-control": "no-store" });
  });
  return app;
}

/** Undefined for a body that is too large, no JSON, or cut off. */
async function readJson({ body }: Request, bytesMax: number): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
      size += part.length;
      if (size > bytesMax) return undefined;
      parts.push(part);
    }
    return JSON.parse(new TextDecoder().decode(concat(parts)));
  } catch {
    return undefined;
  }
}

/** Shown if the web desktop was not built. `origin` is one of our own addresses, never text from a request. */
function landingPage({ version, isSetupMode }: HttpServices, origin: string): string {
  const gsv = cliCommand(origin);
  const next = isSetupMode()
    ? `<p>It has no user yet. Create the first one from a terminal, in a clone of GSV:</p><pre>${gsv} auth setup</pre>`
    : `<p>Log in from a terminal, in a clone of GSV:</p><pre>${gsv} auth login\nnpx gsv status</pre><p>Or install only the command, on any machine with Node 20 or newer:</p><pre>curl -fsSL ${origin}/downloads/cli/install.sh | sh</pre>`;
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>GSV</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1rem;color-scheme:light dark}pre{padding:.75rem 1rem;border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:.5rem;overflow:auto}</style>
<h1>GSV</h1><p>This gateway is running, version ${version}, without its web desktop: npm run build creates it.</p>${next}
</html>
`;
}
