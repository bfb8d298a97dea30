// Checks without any credential whether a gateway answers at an address, and what it reports about itself.

import { createRequire } from "node:module";
import { homePath, isAlive, readRunningGateway } from "../../hosts/node/running.ts";
import { toDialableUrl } from "../../lib/gsv-at.ts";
import type { Address } from "./address.ts";
import { EXIT_UNREACHABLE, Problem } from "../terminal/problem.ts";

export type Health = {
  version: string;
  setupMode: boolean;
  startedAt: number;
  /** Its clock minus ours, to the second; null if it sends no date. */
  skewMs: number | null;
};

const TIMEOUT_MS = 5_000;
const BODY_CHARS = 10_000;

/** Throws a Problem that says why no gateway answers and what to do. */
export async function fetchHealth(address: Address): Promise<Health> {
  const sentAt = Date.now();
  const { status, date, text } = await httpGet(address).catch((error: unknown) => {
    throw unreachableProblem(address, error);
  });
  const receivedAt = Date.now();
  if (status === 421) {
    throw makeNoGatewayProblem(
      address,
      `it does not accept the name ${address.hostname}. Start it with: gsv up --origin ${httpOrigin(address)}`,
    );
  }
  const body = status === 200 ? parseJson(text) : null;
  if (!isHealth(body)) throw makeNoGatewayProblem(address, `the server there is not a GSV gateway (HTTP ${status}). Check the address`);
  const theirTime = date === undefined ? Number.NaN : Date.parse(date);
  // The header drops the fraction of the second, on average half a second.
  const skewMs = Number.isNaN(theirTime) ? null : theirTime + 500 - (sentAt + receivedAt) / 2;
  return { version: body.version, setupMode: body.setupMode, startedAt: body.startedAt, skewMs };
}

/**
 * Uses require instead of fetch or an import: fetch loads undici, and so does an import of node:http, which reads every export
 * and thereby its WebSocket. Each costs more than all the rest of `gsv status`. Follows no redirect, which may lead to another
 * origin.
 */
function httpGet(address: Address): Promise<{ status: number; date: string | undefined; text: string }> {
  const require = createRequire(import.meta.url);
  const http = require(address.isEncrypted ? "node:https" : "node:http") as Pick<typeof import("node:http"), "get">;
  return new Promise((resolve, reject) => {
    const request = http.get(address.healthUrl, { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > BODY_CHARS) request.destroy(new Error("The response is too long for a gateway"));
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, date: response.headers.date, text }));
    });
    request.on("error", reject);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function unreachableProblem(address: Address, error: unknown): Problem {
  const { code, message } = rootCause(error);
  if (code === "ECONNREFUSED" || code === "ECONNRESET") {
    return makeNoGatewayProblem(address, `connection refused. ${address.isLocal ? localHint(address) : "Check that it is running"}`);
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return makeNoGatewayProblem(address, "cannot resolve the host name. Check the address and the network");
  if (code === "TimeoutError" || code === "ETIMEDOUT") {
    return makeNoGatewayProblem(address, "timed out. Check that it is running and that the network can reach it");
  }
  if (code === "EPROTO") return makeNoGatewayProblem(address, "the server does not use TLS. If that is intended, use ws:// or http://");
  if (/CERT|SELF_SIGNED|SSL|TLS/.test(code)) {
    return makeNoGatewayProblem(
      address,
      `its certificate is not trusted (${message}). For a private CA, set NODE_EXTRA_CA_CERTS to its certificate`,
    );
  }
  return makeNoGatewayProblem(address, `${message}. Check the address`);
}

/** The gateway of this machine may listen on another port than the requested one. */
function localHint(address: Address): string {
  const running = readRunningGateway(homePath(undefined, process.env));
  if (running === null || !isAlive(running)) return "Start it with: gsv up";
  const url = toDialableUrl(running.url);
  return new URL(url).port === new URL(address.url).port
    ? `Process ${running.pid} should answer there. To find out more: gsv doctor`
    : `This machine's gateway is at ${url}: add --url ${url}`;
}

function makeNoGatewayProblem(address: Address, why: string): Problem {
  return new Problem(`No gateway at ${address.url}: ${why}`, EXIT_UNREACHABLE);
}

/** A timeout wraps its reason, and so does a failure at every address of a name. */
function rootCause(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: "", message: String(error) };
  if (error instanceof AggregateError && error.errors.length > 0) return rootCause(error.errors[0]);
  if (error.cause instanceof Error) return rootCause(error.cause);
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return { code, message: error.message };
}

function isHealth(body: unknown): body is { version: string; setupMode: boolean; startedAt: number } {
  if (typeof body !== "object" || body === null) return false;
  const { version, setupMode, startedAt } = body as Record<string, unknown>;
  return typeof version === "string" && typeof setupMode === "boolean" && typeof startedAt === "number";
}

function httpOrigin(address: Address): string {
  return address.origin.replace(/^ws/, "http");
}
