// gsv call: calls any syscall by name, including ones this version does not know.

import { fstatSync } from "node:fs";
import { Connection } from "../../client/client.ts";
import type { SyscallReference } from "../../protocol/reference.ts";
import { VERSION } from "../../protocol/version.ts";
import { readStdinRest } from "../terminal/ask.ts";
import { fetchHealth } from "../session/health.ts";
import { Problem } from "../terminal/problem.ts";
import { type Globals, resolveGateway, withClient } from "../session/session.ts";
import { loadSocketConstructor } from "../session/socket.ts";
import { printNote, printJson } from "../terminal/terminal.ts";
import { findUnknownFields } from "./unknown-fields.ts";

const HINT_AFTER_MS = 3_000;

export async function call(flags: Globals, [name = "", given]: readonly string[]): Promise<void> {
  const typedArgs = given === undefined || given === "-" ? null : parseArgs(given);
  const { reference } = await import("../../generated/reference.ts");
  const known = reference.find((one) => one.name === name);
  // Such a call needs no identity, so no credential is sent.
  if (known?.from.includes("stranger")) {
    const args = typedArgs ?? (await readPipedArgs(given));
    warnOfUnknownFields(known, args);
    return printJson(await callAsStranger(flags, name, args));
  }
  await withClient(flags, async (client) => {
    // Read after the login, because a password on standard input comes before the arguments.
    const args = typedArgs ?? (await readPipedArgs(given));
    // A gateway of another version may know other fields.
    if (known !== undefined && client.session.server.version === VERSION) warnOfUnknownFields(known, args);
    printJson(await client.call(name, args));
  });
}

/** The gateway drops unknown fields and runs the call without them. */
function warnOfUnknownFields({ name, args: schema }: SyscallReference, args: Record<string, unknown>): void {
  for (const { field, meant } of findUnknownFields(schema, args))
    printNote(`gsv: warning: ${name} has no field ${field}; it is ignored${meant === null ? "" : `. Did you mean ${meant}?`}`);
}

async function callAsStranger(flags: Globals, name: string, args: Record<string, unknown>): Promise<unknown> {
  const { address } = resolveGateway(flags);
  await fetchHealth(address);
  const connection = await Connection.open(address.url, await loadSocketConstructor());
  try {
    return await connection.call(name, args);
  } finally {
    connection.close();
  }
}

async function readPipedArgs(given: string | undefined): Promise<Record<string, unknown>> {
  if (given === undefined && !isPiped()) return {};
  const hint = setTimeout(
    () => printNote("gsv: reading JSON arguments from standard input; for none, write {} on the command line"),
    HINT_AFTER_MS,
  );
  try {
    return parseArgs(await readStdinRest());
  } finally {
    clearTimeout(hint);
  }
}

/** Whether standard input is a pipe, socket or file; a terminal or /dev/null contains no arguments. */
function isPiped(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isFile() || stat.isSocket();
  } catch {
    return false;
  }
}

function parseArgs(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes what it read, which may be a secret.
    const where = / at position \d+/.exec(String(error))?.[0] ?? "";
    throw new Problem(`The arguments are not valid JSON${where}. Write them like '{"key":"config/server"}'`);
  }
  if (!isObject(value)) throw new Problem("The arguments must be a JSON object, such as {}");
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
