// A store for tests of one part of the kernel: its rows are the nouns a test passes in, and every change takes effect at once.

import type { ReadContext, WriteContext } from "../../src/kernel/context.ts";
import { StorageError } from "../../src/ports/sql.ts";
import type { Store } from "../../src/kernel/store.ts";

type Overridable = Pick<Store, "commit" | "write" | "relaxed" | "attempt" | "wakeBy" | "durable">;

/** `nouns`, including `now`, serve both reads and changes; `more` are ports, and methods that the test overrides to observe them. */
export function fakeStore(nouns: object, more: { ports?: object } & Partial<Overridable> = {}): Store {
  const change = <T>(body: (nouns: WriteContext) => T): T => body(nouns as WriteContext);
  const fake: Overridable & { reads: ReadContext } = {
    reads: nouns as ReadContext,
    commit: async (body) => change(body),
    write: change,
    relaxed: change,
    attempt: (action) => {
      try {
        action();
        return true;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        return false;
      }
    },
    wakeBy: () => {},
    durable: async () => {},
    ...more,
  };
  return fake as unknown as Store;
}
