// The log of a device daemon that runs unattended: JSON lines in a private, rotated file. A line has a call's name, duration and
// outcome, and never its arguments, which are people's files and commands.

import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { LOG_LIMITS, LogFile, type LogLimits } from "../../hosts/node/log-file.ts";
import { homePath } from "../../hosts/node/running.ts";
import { Problem } from "../terminal/problem.ts";
import type { ThisDevice } from "./this-device.ts";

export type LogLevel = "info" | "warn" | "error";
export type LogFields = Record<string, string | number | undefined>;
export type DeviceLog = (level: LogLevel, msg: string, fields?: LogFields) => void;

/** A second daemon on this machine, under another id, has its own file. */
export function deviceLogFile({ deviceId, stored }: Pick<ThisDevice, "deviceId" | "stored">, env: NodeJS.ProcessEnv = process.env): string {
  const name = stored.id === undefined || stored.id === deviceId ? "node.log" : `node-${deviceId.replace(/[^\w.-]/g, "_")}.log`;
  return join(homePath(undefined, env), "logs", name);
}

export function openDeviceLog(file: string, env: NodeJS.ProcessEnv = process.env): DeviceLog {
  const line: (level: LogLevel, msg: string, fields?: LogFields) => string = (level, msg, fields = {}) =>
    `${JSON.stringify({ time: new Date().toISOString(), level, msg, ...fields })}\n`;
  const limits: LogLimits = {
    bytesMax: readCountVariable(env, "GSV_NODE_LOG_MAX_BYTES", LOG_LIMITS.bytesMax),
    filesMax: readCountVariable(env, "GSV_NODE_LOG_MAX_FILES", LOG_LIMITS.filesMax),
  };
  try {
    // Private, because this may create the data directory, which a gateway may use later.
    mkdirSync(dirname(resolve(file)), { recursive: true, mode: 0o700 });
    const log = new LogFile(file, (lost) => line("warn", "log lines were lost: the log could not be written", { lost }), limits);
    return (level, msg, fields) => log.write(line(level, msg, fields));
  } catch (error) {
    throw new Problem(`Cannot write the log ${file}: ${(error as Error).message}`);
  }
}

function readCountVariable(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  if (!/^[1-9]\d{0,11}$/.test(text)) throw new Problem(`${name} must be a whole number above zero: ${text}`);
  return Number(text);
}
