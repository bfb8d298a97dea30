// The gateway's own shell against the machine's bash. Truth is what bash says here and now; differences.ts lists where
// the shell is known to differ, and is wrong where it does not.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate } from "../support/people.ts";
import { snippets } from "./corpus.ts";
import { differences } from "./differences.ts";
import { byGateway, byMachine, canRun, hasBash, makeFolders, type Ran } from "./runs.ts";

const all = snippets();

test("snippets have names of their own, and differences name snippets", () => {
  const names = all.map(({ name }) => name);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  expect(Object.keys(differences).filter((name) => !names.includes(name))).toEqual([]);
});

describe.skipIf(!hasBash)("the shell does as bash does (skipped where there is no bash)", () => {
  let host: Host;
  let client: Client;
  let truth: Promise<Ran>[] = [];
  let ours: Promise<Ran>[] = [];

  beforeAll(async () => {
    host = await startNodeHost();
    await populate(host);
    client = await enter(host, ALICE);
    await makeFolders(all, client);
    // Not waited for here: each test waits for its own.
    truth = byMachine(all);
    ours = byGateway(all, client);
  });

  afterAll(async () => {
    await Promise.allSettled([...truth, ...ours]);
    client?.close();
    await host?.close();
  });

  for (const [at, snippet] of all.entries()) {
    const { theme, name } = snippet;
    test.skipIf(!canRun(snippet))(`${theme}: ${name}`, async () => {
      const [wanted, got] = [await truth[at]!, await ours[at]!];
      // Errors are worded differently by every program; whether there are any is not.
      const shown = ({ stdout, stderr, exitCode }: Ran) => ({ exitCode, stdout, hasErrors: stderr !== "" });
      if (!Object.hasOwn(differences, name)) expect(shown(got), got.stderr).toEqual(shown(wanted));
      else expect(shown(got), "it no longer differs: take it off test/shell/differences.ts").not.toEqual(shown(wanted));
    });
  }
});
