// Connects cases to requirements, and runs all cases against one host.

import { deepStrictEqual } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CallError, type Client, type ClientInfo, Connection } from "../../src/client/client.ts";
import { kernelCalls } from "../../src/kernel/calls/table.ts";
import { SIGNALS } from "../../src/protocol/signals.ts";
import type { Host } from "../support/host.ts";
import { ALICE, BOB, enter, populate, ROOT } from "../support/people.ts";
import { RawSocket } from "../support/raw-socket.ts";
import { REQUIREMENTS } from "./requirements.ts";

export type Auth = Parameters<typeof enter>[1];

export type World = {
  host: Host;
  /** Starts another gateway, not set up, for this case only. */
  fresh: () => Promise<Host>;
  /** A connected client that checks every result against the call's schema. */
  connect: (auth: Auth, client?: ClientInfo, at?: Host) => Promise<Client>;
  alice: () => Promise<Client>;
  bob: () => Promise<Client>;
  root: () => Promise<Client>;
  line: (at?: Host) => Promise<Connection>;
  raw: (at?: Host) => Promise<RawSocket>;
};

type People = Record<"alice" | "bob" | "root", Auth>;
type Case = { id: string; body: (world: World) => Promise<void>; waits: boolean };

const cases: Case[] = [];

/** `waits`: the case waits for a time limit of the gateway, concurrently with others. Such a case cannot use expect.poll. */
export function verifies(id: string, body: (world: World) => Promise<void>, { waits = false } = {}): void {
  if (!REQUIREMENTS.some((requirement) => requirement.id === id)) throw new Error(`no such requirement: ${id}`);
  cases.push({ id, body, waits });
}

export function verified(): string[] {
  return cases.map(({ id }) => id);
}

/** Runs cases sequentially against one host; the waiting ones run concurrently, in their own file. */
export function conformance(name: string, start: () => Promise<Host>, { waits = false } = {}): void {
  describe(name, { concurrent: waits }, () => {
    let host: Host;
    let people: People;
    beforeAll(async () => {
      host = await start();
      await populate(host);
      people = await createTokens(host);
    });
    afterAll(() => host.close());
    for (const { id, body } of cases.filter((one) => one.waits === waits)) {
      const sentence = REQUIREMENTS.find((requirement) => requirement.id === id)?.sentence;
      test(`${id}: ${sentence}`, async () => inWorld(host, people, start, body));
    }
  });
}

/** The refusal that a promise rejects with; any other outcome fails the case. */
export async function refusal(promise: Promise<unknown>): Promise<{ code: number; message: string; details: unknown }> {
  const error = await promise.then(
    (value) => new Error(`expected a refusal, got ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof CallError)) throw error;
  return { code: error.code, message: error.message, details: error.details };
}

export async function expectRefusal(promise: Promise<unknown>, code: number, message?: string | RegExp): Promise<void> {
  const error = await refusal(promise);
  expect(error.code, error.message).toBe(code);
  if (typeof message === "string") expect(error.message).toBe(message);
  else if (message !== undefined) expect(error.message).toMatch(message);
}

async function inWorld(host: Host, people: People, start: () => Promise<Host>, body: (world: World) => Promise<void>): Promise<void> {
  const cleanup: (() => Promise<void> | void)[] = [];
  const undeclared: string[] = [];
  const connect: World["connect"] = async (auth, client, at = host) => {
    const connected = withChecks(await enter(at, auth, client), undeclared);
    cleanup.push(() => connected.close());
    return connected;
  };
  try {
    await body({
      host,
      async fresh() {
        const other = await start();
        cleanup.unshift(() => other.close());
        return other;
      },
      connect,
      alice: () => connect(people.alice),
      bob: () => connect(people.bob),
      root: () => connect(people.root),
      async line(at = host) {
        const line = await Connection.open(at.url);
        cleanup.push(() => line.close());
        return line;
      },
      async raw(at = host) {
        const raw = await RawSocket.open(at.url);
        cleanup.push(() => raw.terminate());
        return raw;
      },
    });
    expect(undeclared).toEqual([]);
  } finally {
    for (const step of cleanup.toReversed()) await step();
  }
}

/** Checking a password is slow on purpose, so cases that are not about passwords log in with a token. */
async function createTokens(host: Host): Promise<People> {
  const token = async (auth: { username: string; password: string }) => {
    const client = await enter(host, auth);
    const { token: value } = await client.call("sys.token.create", { kind: "user", expiresAt: null });
    client.close();
    return { username: auth.username, token: value.token };
  };
  return { alice: await token(ALICE), bob: await token(BOB), root: await token(ROOT) };
}

/** Checks that results and signals match their declarations, with nothing added. */
function withChecks(client: Client, undeclared: string[]): Client {
  client.onSignal(({ signal, payload }) => {
    const declared = SIGNALS[signal] as (typeof SIGNALS)[typeof signal] | undefined;
    const parsed = declared?.payload.safeParse(payload).data;
    if (!isDeepStrictEqual(parsed, payload)) undeclared.push(`${signal} ${JSON.stringify(payload)}`);
  });
  const call = client.call.bind(client) as (...args: Parameters<Client["call"]>) => Promise<unknown>;
  client.call = (async (...args: Parameters<Client["call"]>) => {
    const result = await call(...args);
    const schema = kernelCalls.find(({ name }) => name === args[0])?.result;
    if (schema !== undefined) deepStrictEqual(schema.parse(result), result);
    return result;
  }) as Client["call"];
  return client;
}
