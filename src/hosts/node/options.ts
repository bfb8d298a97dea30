// The operator's options from flags and environment, checked before anything starts.

import { isLoopback } from "../../lib/address.ts";
import { OperatorError } from "./home.ts";
import { homePath } from "./running.ts";
import { parseOrigin } from "../shared/parse-origin.ts";

export type UpOptions = {
  home: string;
  host: string;
  port: number;
  allowRemote: boolean;
  origins: string[];
  trustProxy: string[];
  tls: { cert: string; key: string } | null;
  logLevel: string;
  logToStdout: boolean;
};

export type UpFlags = {
  home?: string;
  host?: string;
  port?: string;
  allowRemote?: boolean;
  origin?: string[];
  trustProxy?: string[];
  tlsCert?: string;
  tlsKey?: string;
  logLevel?: string;
  logStdout?: boolean;
};

const LEVELS = ["debug", "info", "warn", "error"];

export function parseUpOptions(flags: UpFlags, env: NodeJS.ProcessEnv): UpOptions {
  const host = flags.host ?? (env.GSV_HOST || "127.0.0.1");
  const allowRemote = flags.allowRemote ?? false;
  if (!isLoopback(host) && !allowRemote) {
    throw new OperatorError(
      `Listening on ${host} lets other machines reach the gateway. If this is intended, add --allow-remote, and see docs/guides/remote-access.md`,
    );
  }
  const { tlsCert, tlsKey } = flags;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) throw new OperatorError("--tls-cert and --tls-key must be used together");
  const logLevel = flags.logLevel ?? (env.GSV_LOG_LEVEL || "info");
  if (!LEVELS.includes(logLevel)) throw new OperatorError(`--log-level must be one of: ${LEVELS.join(", ")}`);
  return {
    home: homePath(flags.home, env),
    host,
    port: parsePort(flags.port ?? (env.GSV_PORT || "8787")),
    allowRemote,
    origins: (flags.origin ?? []).map(mustBeOrigin),
    trustProxy: flags.trustProxy ?? [],
    tls: tlsCert !== undefined && tlsKey !== undefined ? { cert: tlsCert, key: tlsKey } : null,
    logLevel,
    logToStdout: flags.logStdout ?? false,
  };
}

/** Directly, or through a proxy that forwards to loopback. */
export function othersCanReach({ host, origins, trustProxy }: UpOptions): boolean {
  return !isLoopback(host) || trustProxy.length > 0 || origins.some((origin) => !isLoopback(new URL(origin).hostname));
}

/** Whether the gateway listens on all addresses of this machine. */
export function isWildcardHost(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function parsePort(text: string): number {
  const number = Number(text);
  if (!/^\d{1,5}$/.test(text) || number > 65535)
    throw new OperatorError(`Not a port: ${text}. Use a number from 0 to 65535 (0 picks a free one)`);
  return number;
}

function mustBeOrigin(text: string): string {
  const origin = parseOrigin(text);
  if (origin === null) throw new OperatorError(`Not an origin: ${text}. Use something like https://gsv.example.com`);
  return origin;
}
