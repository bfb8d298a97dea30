// Assembles the Node host: home, ports, kernel, HTTP, and the shutdown, which a failed start runs as well.

import { basename } from "node:path";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { makeHttpApp } from "../../kernel/http/app.ts";
import type { SetupAccess } from "../../kernel/context.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { SchemaTooNew } from "../../ports/migrate.ts";
import { CATALOGUE_KEY } from "../../models/catalogue.ts";
import { ProviderModels } from "../../models/models.ts";
import type { Log } from "../../ports/log.ts";
import { LimitedLog } from "../../ports/limited-log.ts";
import type { Ports } from "../../ports/ports.ts";
import { StorageError } from "../../ports/sql.ts";
import { VERSION } from "../../protocol/version.ts";
import { makeNodeCrypto } from "../shared/crypto.ts";
import { NodeBlobs } from "./blobs.ts";
import { NodeClock } from "./clock.ts";
import { nodeDownloads } from "./downloads.ts";
import { crashAt } from "./faults.ts";
import { Home, OperatorError } from "./home.ts";
import { createHttpServer, HttpGuard, listen, makeGatewayUrl } from "./http.ts";
import { Journal } from "./journal/journal.ts";
import { JournaledSql } from "./journal/journaled-sql.ts";
import { recoverJournal } from "./journal/recover.ts";
import { releaseMemoryWhenIdle } from "./idle-memory.ts";
import { makeNodeLog } from "./log.ts";
import { makeNodeMeter } from "./meter.ts";
import { makeNodeNet } from "./net.ts";
import { othersCanReach, type UpOptions } from "./options.ts";
import { NodeProcesses } from "./processes.ts";
import { NodeRepos } from "./repos.ts";
import { makeSetupCode } from "./setup-code.ts";
import { NodeSandboxes } from "./sandboxes.ts";
import { NodeShells } from "./shells.ts";
import { NodeSockets } from "./sockets.ts";
import { makeNodeVitals } from "./vitals.ts";

export type Gateway = { url: string; port: number; isSetupMode: boolean; setupCode: string | null; close(): Promise<void> };

const CLOSE_MS = 1_000;

type Defer = (step: () => Promise<void> | void) => void;

export async function startGateway(options: UpOptions): Promise<Gateway> {
  const steps: (() => Promise<void> | void)[] = [];
  let closing: Promise<void> | null = null;
  const shutDown = async () => {
    for (const step of steps.toReversed()) await step();
  };
  try {
    const started = await start(options, (step) => steps.push(step));
    return { ...started, close: () => (closing ??= shutDown()) };
  } catch (error) {
    await shutDown();
    throw error;
  }
}

async function start(options: UpOptions, defer: Defer): Promise<Omit<Gateway, "close">> {
  const home = new Home(options.home);
  defer(() => home.release());
  const log = new LimitedLog(makeNodeLog(options.logToStdout ? null : home.logFile, options.logLevel), Date.now);
  const crypto = makeNodeCrypto(home.readOrMakeSecretKey());
  const stop = (message: string, fields: { error?: string } = {}) => {
    log.error(message, fields);
    // The log may be on the same failed disk.
    console.error(`gsv: ${[message, ...Object.values(fields)].join(": ")}`);
    process.exit(74);
  };
  const fatal = (error: unknown) => stop("storage failed; stopping so that a restart can recover", { error: String(error) });
  const journal = openJournal(home, log, fatal);
  defer(() => journal.close());
  const sql = openDatabase(home, journal, fatal);
  defer(() => sql.close());
  defer(home.watchFiles(journal, (path) => stop(`${path} was removed or replaced; stopping, because later changes would be lost`)));
  const repos = new NodeRepos({ folder: home.reposFolder, log, onFatalError: fatal });
  defer(() => repos.close());
  const sockets = new NodeSockets(sql, (): Kernel => kernel);
  const clock = new NodeClock();
  defer(() => clock.stop());
  const meter = makeNodeMeter(() => sockets.size, journal);
  const code = othersCanReach(options) ? makeSetupCode() : null;
  const net = makeNodeNet({ isAllowed: (host, port): boolean => kernel.isOnAllowList(host, port) });
  const models = new ProviderModels({ net, crypto, catalogue: (): string => kernel.readSetting(CATALOGUE_KEY) });
  const sandboxes = new NodeSandboxes();
  defer(() => sandboxes.close());
  const uuid = () => crypto.uuid();
  const processes = new NodeProcesses({ root: home.path, journal, models, sandboxes, uuid, log, onFatalError: fatal });
  defer(() => processes.close());
  const shells = new NodeShells(crypto);
  defer(() => shells.close());
  const vitals = makeNodeVitals(home, options, (): number => door.port);
  const ports: Ports = {
    sql,
    processes,
    repositories: repos,
    shells,
    blobs: new NodeBlobs(home.blobsFolder, fatal),
    clock,
    sockets,
    crypto,
    net,
    log,
    meter,
    vitals,
  };
  const kernel: Kernel = await startKernel(home, ports, code, (): readonly string[] => door.origins);
  sql.onFailure(() => kernel.onRollback());
  processes.start({
    kernelPortFor: (pid) => kernel.kernelPortFor(pid),
    archiveRootOf: (pid) => kernel.archiveRootOf(pid),
    ownerUidOf: (pid) => kernel.ownerOf(pid),
  });
  clock.start(() => kernel.onWake());
  crashAt("mid-start");

  const startedAt = Date.now();
  const app = makeHttpApp({
    version: VERSION,
    startedAt,
    isSetupMode: () => kernel.isSetupMode,
    isOperator: (token) => kernel.isOperator(token),
    metrics: () => meter.metricsText(),
    serveGit: (request, address) => kernel.serveGit(request, address),
    finishSignIn: (params, origin) => kernel.finishSignIn(params, origin),
    answerPush: (sent, address, signal) => kernel.answerPush(sent, address, signal),
    logIncident: (error, address) => kernel.logIncident("http", error, address),
    downloads: nodeDownloads,
  });
  // Our few pages need no faster Response, and other code in this process must not get a replaced global.
  const door: HttpGuard = new HttpGuard(options, kernel, sockets);
  const listener = getRequestListener(
    (request, env) => {
      const { incoming } = env as HttpBindings;
      return app.fetch(request, { address: door.clientAddressOf(incoming), origin: door.gatewayOriginFor(incoming) });
    },
    { overrideGlobalObjects: false },
  );
  const server = createHttpServer(
    options,
    door.guard((request, response) => void listener(request, response)),
  );
  server.on("upgrade", (request, wire, head) => door.upgrade(request, wire, head));
  const port = await listen(server, options);
  defer(async () => {
    log.info("gateway is shutting down");
    door.refuseUpgrades();
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
    await sockets.closeAll(1001, "Gateway is shutting down", CLOSE_MS);
    server.closeAllConnections();
    await stopped;
  });
  door.onListening(port);
  const url = makeGatewayUrl(options, port);
  defer(releaseMemoryWhenIdle());
  home.writeRunningFile({ pid: process.pid, url, startedAt, version: VERSION });
  log.info("gateway is up", { url, home: home.path, version: VERSION, setupMode: kernel.isSetupMode });
  return { url, port, isSetupMode: kernel.isSetupMode, setupCode: kernel.isSetupMode ? code : null };
}

/** Recovers what the last run left in the journal, before anything else opens a database. */
function openJournal(home: Home, log: Log, fatal: (error: unknown) => void): Journal {
  try {
    const { batches, missing } = recoverJournal(home.path);
    if (batches > 0) log.info("recovered changes from the journal", { batches });
    if (missing.length > 0)
      log.error("databases are missing; the journal has later changes of them, which were dropped", { missing: missing.join(" ") });
    return new Journal(home.path, fatal);
  } catch (error) {
    throw new OperatorError(`Cannot use the data directory ${home.path}: ${(error as Error).message}`);
  }
}

function openDatabase({ path, databaseFile }: Home, journal: Journal, fatal: (error: unknown) => void): JournaledSql {
  try {
    return new JournaledSql(path, basename(databaseFile), journal, fatal);
  } catch (error) {
    throw new OperatorError(`Cannot use ${databaseFile}: ${(error as Error).message}`);
  }
}

/** Starts the kernel and waits until its first rows are on disk: a gateway that cannot write does not start. */
async function startKernel(home: Home, ports: Ports, code: string | null, origins: () => readonly string[]): Promise<Kernel> {
  try {
    const setupAccess: SetupAccess = code === null ? { open: true } : { open: false, code };
    const model = { provider: "demo", model: "demo" };
    const kernel = new Kernel(ports, { version: VERSION, host: "node", setupAccess, model, origins });
    await ports.sql.waitUntilDurable();
    return kernel;
  } catch (error) {
    if (error instanceof SchemaTooNew) throw new OperatorError(`${error.message}, or choose another directory with --home`);
    if (error instanceof StorageError) throw new OperatorError(`Cannot write to the data directory ${home.path}. ${error.message}`);
    throw error;
  }
}
