// Serves a push: reads the commands and the pack, and reports the status of each ref.

import { fail, SysError } from "../lib/sys-error.ts";
import { StorageError } from "../ports/sql.ts";
import type { ByteReader } from "./byte-reader.ts";
import { isOid, ZERO_OID } from "./oid.ts";
import { FLUSH, pkt, PKT_BYTES_MAX, readPktLine, splitIntoSideband } from "./pkt-line.ts";
import { receive, type ReceiveResult, type RefUpdate } from "./receive.ts";
import type { Store } from "./store.ts";
import { concat } from "../lib/bytes.ts";

type Commands = { updates: RefUpdate[]; capabilities: Set<string> };

/** Returns the answer and the refs that moved. */
export async function servePush(
  store: Store,
  reader: ByteReader,
  options: { force: boolean },
): Promise<{ answer: Uint8Array; moved: RefUpdate[] }> {
  reader.limit(store.limits.requestBytes, "Request too large");
  // Clients first send an empty request to test their credentials.
  if (await reader.isAtEnd()) return { answer: new Uint8Array(0), moved: [] };
  const { updates, capabilities } = await readCommands(reader, store.limits.refs);
  if (updates.length === 0) return { answer: new Uint8Array(0), moved: [] };
  const pack = updates.every(({ to }) => to === null) ? null : reader;
  const received = await receive(store, pack, updates, { atomic: capabilities.has("atomic"), force: options.force });
  const moved = received.unpack === null ? updates.filter((_, i) => received.refs[i]!.fault === null) : [];
  return { answer: capabilities.has("report-status") ? formatReport(received, capabilities) : new Uint8Array(0), moved };
}

async function readCommands(reader: ByteReader, refsMax: number): Promise<Commands> {
  const commands: Commands = { updates: [], capabilities: new Set() };
  for (;;) {
    const line = await readPktLine(reader);
    if (line === null) return commands;
    const [command = "", capabilities] = line.split("\0");
    // The boundary of a shallow clone does not matter: pack and repository together must be complete.
    if (/^shallow [0-9a-f]{40}$/.test(command)) continue;
    if (commands.updates.length === 0 && capabilities !== undefined)
      commands.capabilities = new Set(capabilities.split(" ").filter((word) => word !== ""));
    const [from = "", to = "", ...name] = command.split(" ");
    if (!isOid(from) || !isOid(to) || name.length === 0) fail(400, "Bad request: not a command");
    if (commands.updates.length >= refsMax) fail(413, `Request too large: more than ${refsMax} refs`);
    commands.updates.push({ ref: name.join(" "), from: from === ZERO_OID ? null : from, to: to === ZERO_OID ? null : to });
  }
}

function formatReport(received: ReceiveResult, capabilities: ReadonlySet<string>): Uint8Array {
  const lines = [pkt(`unpack ${received.unpack ?? "ok"}\n`)];
  for (const { ref, fault } of received.refs) lines.push(pkt(fault === null ? `ok ${ref}\n` : `ng ${ref} ${fault}\n`));
  const status = concat([...lines, FLUSH]);
  return capabilities.has("side-band-64k") ? concat([...splitIntoSideband(1, status, PKT_BYTES_MAX), FLUSH]) : status;
}

/** The answer for an error that occurred before the status of each ref could be reported. */
export function formatPushError(error: unknown): Uint8Array {
  if (!(error instanceof SysError || error instanceof StorageError)) throw error;
  return pkt(`ERR ${error.message}`);
}
