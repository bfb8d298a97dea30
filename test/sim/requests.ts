// What a request would change, as registers and values, and what an answer reveals. Knows the calls of the workload and nothing
// of the kernel.

import { createHash } from "node:crypto";

export type Data = Record<string, unknown>;

export type Answer = { ok: true; data: Data } | { ok: false; code: number; message: string };

/** The [register, value] pairs that a request writes if it succeeds. */
export function changes(call: string, args: Data, isRoot: boolean, username: string): [string, string][] {
  switch (call) {
    case "sys.config.set":
      // Sealed values cannot be compared with the value that was set.
      return text(args.key).endsWith("api_key") ? [] : [[`config:${text(args.key)}`, text(args.value)]];
    case "sys.user.lock":
      return [[`lock:${text(args.username)}`, text(args.locked)]];
    case "sys.user.create":
      return [
        [`user:${text(args.username)}`, "true"],
        [`password:${text(args.username)}`, text(args.password)],
        [`lock:${text(args.username)}`, "false"],
      ];
    case "sys.user.password": {
      const whose = text(args.username ?? username);
      const set: [string, string] = [`password:${whose}`, text(args.password)];
      return isRoot ? [set, [`lock:${whose}`, "false"]] : [set];
    }
    case "sys.token.create":
      return [[`token:${text(args.label)}`, "1"]];
    case "sys.token.revoke":
      return [[`revoked:${text(args.tokenId)}`, "true"]];
    case "sys.capability.grant":
      return [[`may:${text(args.gid)}:${text(args.capability)}`, "true"]];
    case "sys.capability.revoke":
      return [[`may:${text(args.gid)}:${text(args.capability)}`, "false"]];
    case "sys.group.create":
      return [[`group:${text(args.name)}`, "true"]];
    case "sys.group.members":
      return [[`members:${text(args.gid)}`, (args.members as string[]).toSorted().join(",")]];
    case "fs.write":
      return [[`file:${text(args.path)}`, hashOf(text(args.content))]];
    case "fs.delete":
      return [[`file:${text(args.path)}`, ABSENT]];
    case "sys.setup":
      return [
        [`user:${text(args.username)}`, "true"],
        [`password:${text(args.username)}`, text(args.password)],
        [`lock:${text(args.username)}`, "false"],
        ["password:root", text(args.rootPassword)],
        ["lock:root", "false"],
      ];
    default:
      return [];
  }
}

/** An answer that is ok although nothing was changed. */
export function changedNothing(data: Data): boolean {
  return data.revoked === false || data.ok === false;
}

/** Other users' data in an answer. */
export function leaks(call: string, data: Data, { uid, username }: { uid: number; username: string }): string[] {
  if (uid === 0) return [];
  const rows = (name: string) => (Array.isArray(data[name]) ? (data[name] as Data[]) : []);
  switch (call) {
    case "sys.token.list":
      return rows("tokens").flatMap((token) => (token.uid === uid && !("token" in token) ? [] : [`token of ${text(token.uid)}`]));
    case "sys.connection.list":
      return rows("connections").flatMap((connection) => (connection.uid === uid ? [] : [`connection of ${text(connection.uid)}`]));
    case "sys.config.get":
      return rows("entries").flatMap(({ key }) => (mayRead(text(key), uid) ? [] : [`config ${text(key)}`]));
    case "fs.read":
      return data.ok === true && !text(data.path).startsWith(`/home/${username}/`) ? [`file ${text(data.path)}`] : [];
    default:
      return [];
  }
}

/** The value of a file register if there is no file. */
export const ABSENT = "(absent)";

export function hashOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The file register and value that an answer to fs.read shows. The workload's files are one line without a line end. */
export function fileShown(data: Data): [string, string] | null {
  if (data.ok !== true || typeof data.content !== "string") return null;
  return [`file:${text(data.path)}`, hashOf(data.content.slice(data.content.indexOf("\t") + 1))];
}

export function readAnswer(frame: Data): Answer {
  if (frame.ok === true) return { ok: true, data: (frame.data ?? {}) as Data };
  const { code, message } = frame.error as { code: number; message: string };
  return { ok: false, code, message };
}

export function allows(patterns: readonly string[], name: string): boolean {
  return patterns.some(
    (pattern) => pattern === "*" || pattern === name || (pattern.endsWith(".*") && name.startsWith(pattern.slice(0, -1))),
  );
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
}

function mayRead(key: string, uid: number): boolean {
  return key.startsWith(`users/${uid}/`) || (key.startsWith("config/") && !key.endsWith("api_key"));
}
