// Assembles the Cloudflare host: ports, kernel, and the platform's events. It decides nothing. Memory may vanish between any two
// events while sockets and rows stay, so the constructor is also the recovery.

import { DurableObject } from "cloudflare:workers";
import { type HttpApp, makeHttpApp } from "../../kernel/http/app.ts";
import { type OriginPolicy, makeOriginPolicy, originRefusal } from "../../kernel/http/origin.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { CATALOGUE_KEY } from "../../models/catalogue.ts";
import { LimitedLog } from "../../ports/limited-log.ts";
import type { Reply } from "../../ports/reply.ts";
import { VERSION } from "../../protocol/version.ts";
import { makeNodeCrypto } from "../shared/crypto.ts";
import { CloudflareBlobs } from "./blobs.ts";
import { CloudflareClock } from "./clock.ts";
import { makeCloudflareDownloads } from "./downloads.ts";
import { readOrMakeSecretKey } from "./home.ts";
import { makeCloudflareLog } from "./log.ts";
import { makeCloudflareMeter } from "./meter.ts";
import { makeCloudflareNet } from "./net.ts";
import { type Env, readOrigins, readSetupAccess } from "./options.ts";
import type { ProcessCall } from "../../process/actor.ts";
import { ProcessRequests } from "./process-requests.ts";
import { CloudflareProcesses } from "./processes.ts";
import { CloudflareRepos } from "./repos.ts";
import { CloudflareShells } from "./shells.ts";
import { CloudflareSockets } from "./sockets.ts";
import { CloudflareSql } from "./sql.ts";
import { makeCloudflareVitals } from "./vitals.ts";

export class KernelObject extends DurableObject<Env> {
  readonly #kernel: Kernel;
  readonly #sockets: CloudflareSockets;
  readonly #processRequests: ProcessRequests;
  readonly #app: HttpApp;
  readonly #origins: string[] | null;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    const { storage } = state;
    this.#origins = readOrigins(env);
    this.#sockets = new CloudflareSockets(state, () => this.#kernel);
    const processes = new CloudflareProcesses(env.PROCESSES);
    this.#kernel = new Kernel(
      {
        sql: new CloudflareSql(storage),
        processes,
        repositories: new CloudflareRepos(env.REPOS),
        shells: new CloudflareShells(env.SHELLS),
        blobs: new CloudflareBlobs(env.FILES),
        clock: new CloudflareClock(storage),
        sockets: this.#sockets,
        crypto: makeNodeCrypto(readOrMakeSecretKey(storage, env)),
        net: makeCloudflareNet({ isAllowed: (host, port) => this.#kernel.isOnAllowList(host, port) }),
        log: new LimitedLog(makeCloudflareLog(), Date.now),
        meter: makeCloudflareMeter(),
        vitals: makeCloudflareVitals(storage, this.#origins),
      },
      {
        version: VERSION,
        host: "cloudflare",
        setupAccess: readSetupAccess(env),
        model: { provider: "workers-ai", model: "@cf/nvidia/nemotron-3-120b-a12b" },
        workersAi: env.AI,
        origins: () => this.#origins ?? [],
      },
    );
    this.#processRequests = new ProcessRequests(
      (pid) => this.#kernel.kernelPortFor(pid),
      (pid) => ({
        archiveRoot: this.#kernel.archiveRootOf(pid),
        catalogue: this.#kernel.readSetting(CATALOGUE_KEY),
        reachable: this.#kernel.allowListArguments(),
      }),
      async (pid, callId) => void (await processes.call(pid, "markCallStarted" satisfies ProcessCall, { callId })),
    );
    this.#app = makeHttpApp({
      version: VERSION,
      startedAt: Date.now(),
      isSetupMode: () => this.#kernel.isSetupMode,
      isOperator: (token) => this.#kernel.isOperator(token),
      metrics: null,
      serveGit: (request, address) => this.#kernel.serveGit(request, address),
      finishSignIn: (params, origin) => this.#kernel.finishSignIn(params, origin),
      answerPush: (sent, address, signal) => this.#kernel.answerPush(sent, address, signal),
      logIncident: (error, address) => this.#kernel.logIncident("http", error, address),
      downloads: makeCloudflareDownloads(env),
    });
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.get("upgrade")?.toLowerCase() === "websocket") return this.#upgrade(request);
    const refusal = this.#originRefusal(request);
    if (refusal !== null) return makeRefusal(421, refusal);
    return this.#app.fetch(request, { address: clientAddressOf(request), origin: this.#gatewayOriginFor(request) });
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    this.#sockets.handleMessage(socket, data);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#sockets.handleClose(socket);
    answerClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#sockets.handleClose(socket);
  }

  override alarm(): void {
    this.#kernel.onWake();
  }

  /** Answers a request of a process; only objects of this deployment can call it. */
  answerProcess(pid: string, name: string, args: readonly unknown[]): Promise<Reply> {
    return this.#processRequests.answer(pid, name, args);
  }

  #upgrade(request: Request): Response {
    if (new URL(request.url).pathname !== "/ws") return makeRefusal(404, "Not found");
    const refusal = this.#originRefusal(request);
    if (refusal !== null) return makeRefusal(403, refusal);
    const address = clientAddressOf(request);
    if (this.#sockets.size >= LIMITS.sockets) return makeRefusal(503, "Too many connections: try again later");
    const kernelRefusal = this.#kernel.findRefusal(address);
    if (kernelRefusal !== null) return makeRefusal(503, kernelRefusal);
    return this.#sockets.accept({ address, origin: this.#gatewayOriginFor(request) });
  }

  /** The platform routes by the Host header it has checked, and puts it into the URL. */
  #originRefusal(request: Request): string | null {
    return originRefusal(this.#originPolicyFor(request), new URL(request.url).host, request.headers.get("origin"));
  }

  #gatewayOriginFor(request: Request): string {
    const { host, origin } = new URL(request.url);
    return this.#originPolicyFor(request).hosts.get(host) ?? origin;
  }

  #originPolicyFor(request: Request): OriginPolicy {
    return makeOriginPolicy(this.#origins ?? [new URL(request.url).origin]);
  }
}

/** The platform sets this header and drops the client's own. Locally there is no platform, and no stranger either. */
function clientAddressOf(request: Request): string {
  return request.headers.get("cf-connecting-ip") ?? "127.0.0.1";
}

/** Completes the close handshake: otherwise the peer would wait until the object hibernates. Only some codes may be sent back. */
function answerClose(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState !== WebSocket.CLOSING) return;
  if (code === 1000 || (code >= 3000 && code <= 4999)) socket.close(code, reason);
  else socket.close();
}

function makeRefusal(status: 403 | 404 | 421 | 503, message: string): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", ...(status === 503 ? { "retry-after": "5" } : {}) };
  return new Response(`${message}\n`, { status, headers });
}
