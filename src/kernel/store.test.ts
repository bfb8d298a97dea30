// Rows that nouns keep in memory: whatever way a change is undone, what is read afterwards is what is on disk.

import { beforeEach, expect, test } from "vitest";
import { memoryCrypto, memoryVitals, MemorySql, Random, silentMeter } from "../../test/support/memory-ports.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Ports } from "../ports/ports.ts";
import { makeConfigDefaults } from "./defaults.ts";
import type { Nouns } from "./nouns/nouns.ts";
import { Store } from "./store.ts";

const NOW = 1_700_000_000_000;
const ANN = 1000;
const FAMILY = 200;

let store: Store;

beforeEach(() => {
  const ports = {
    sql: new MemorySql(),
    crypto: memoryCrypto(new Random("store")),
    meter: silentMeter,
    vitals: memoryVitals(),
    clock: { now: () => NOW },
    sockets: { lastHeardAt: () => NOW, close() {} },
  } as unknown as Ports;
  const about = { version: "1", host: "memory", startedAt: NOW, limits: LIMITS } as const;
  store = new Store(ports, about, makeConfigDefaults({ version: "1", model: { provider: "demo", model: "demo" } }));
  store.write(({ accounts, groups }) => {
    accounts.add({ username: "ann", hash: "$x" }, NOW);
    groups.make("family", FAMILY);
  });
  store.nouns.connections.open(connection("first"), NOW);
});

const CHANGES: Record<string, (nouns: Nouns) => void> = {
  "a group gets a member": ({ groups }) => groups.addMember(FAMILY, "ann"),
  "a group is removed": ({ groups }) => groups.remove(FAMILY),
  "a connection is opened": ({ connections }) => connections.open(connection("second"), NOW),
  "a connection is removed": ({ connections }) => connections.remove("first"),
  "something is spent": ({ spending }) => spending.add(ANN, { modelCalls: 3 }, NOW),
  "a budget is extended": ({ spending }) => {
    spending.add(ANN, { modelCalls: 3 }, NOW);
    spending.extendBudget(ANN, NOW);
  },
};

test.for(Object.entries(CHANGES))("%s: seen at once, and not after it was rolled back", ([, change]) => {
  const before = read();
  expect(() =>
    store.write(() => {
      change(store.nouns);
      expect(read()).not.toEqual(before);
      throw new Error("on purpose");
    }),
  ).toThrow("on purpose");
  expect(read()).toEqual(before);
  store.write(() => change(store.nouns));
  const after = read();
  expect(after).not.toEqual(before);
  // The same from the rows alone.
  store.onRollback();
  expect(read()).toEqual(after);
});

function read(): unknown {
  const { groups, connections, spending } = store.nouns;
  return [
    groups.gidsOf("ann", ANN),
    groups.namesOf([FAMILY]),
    [...connections.idsOfUser(ANN)].toSorted(),
    [...connections.idsOfUser(ANN, "user")].toSorted(),
    spending.readToday(ANN, NOW),
  ];
}

function connection(connectionId: string) {
  return {
    connectionId,
    uid: ANN,
    role: "user" as const,
    clientId: connectionId,
    clientVersion: "1",
    platform: "test",
    channel: null,
    implements: null,
    credential: { kind: "password" as const },
    address: "",
  };
}
