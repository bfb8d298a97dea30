// Compares the gateway's own shell with the machine's bash, which is the reference. differences.ts lists the known differences;
// the test fails if one of them no longer exists.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate } from "../support/people.ts";
import { snippets } from "./corpus.ts";
import { differences } from "./differences.ts";
import { byGateway, byMachine, canRun, hasBash, makeFolders, type Ran } from "./runs.ts";

const all = snippets();

test("snippet names are unique, and every difference names a snippet", () => {
  const names = all.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(Object.keys(differences).filter((name) => !names.includes(name))).toEqual([]);
});

describe.skipIf(!hasBash)("the shell behaves like bash (skipped if bash is not installed)", () => {
  let host: Host;
  let client: Client;
  let expectedRuns: Promise<Ran>[] = [];
  let gatewayRuns: Promise<Ran>[] = [];

  beforeAll(async () => {
    host = await startNodeHost();
    await populate(host);
    client = await enter(host, ALICE);
    await makeFolders(all, client);
    // Not awaited here: each test awaits its own run.
    expectedRuns = byMachine(all);
    gatewayRuns = byGateway(all, client);
  });

  afterAll(async () => {
    await Promise.allSettled([...expectedRuns, ...gatewayRuns]);
    client?.close();
    await host?.close();
  });

  for (const [at, snippet] of all.entries()) {
    const { theme, name } = snippet;
    test.skipIf(!canRun(snippet))(`${theme}: ${name}`, async () => {
      const [expected, actual] = [await expectedRuns[at]!, await gatewayRuns[at]!];
      // Every program words its errors differently, so only whether there are any is compared.
      const comparable = ({ stdout, stderr, exitCode }: Ran) => ({ exitCode, stdout, hasErrors: stderr !== "" });
      if (!Object.hasOwn(differences, name)) expect(comparable(actual), actual.stderr).toEqual(comparable(expected));
      else expect(comparable(actual), "it no longer differs: take it off test/shell/differences.ts").not.toEqual(comparable(expected));
    });
  }
});
