// A store for tests of one part of the kernel: rows are the nouns a test brings, and every change is made at once.

import type { ReadContext, WriteContext } from "../../src/kernel/context.ts";
import type { Store } from "../../src/kernel/store.ts";

type Changed = Pick<Store, "commit" | "write" | "relaxed" | "wakeBy" | "durable">;

/** `nouns` with `now` are both what is read and what is changed; `more` are ports, and what a test wants to see. */
export function fakeStore(nouns: object, more: { ports?: object } & Partial<Changed> = {}): Store {
  const change = <T>(body: (nouns: WriteContext) => T): T => body(nouns as WriteContext);
  const fake: Changed & { reads: ReadContext } = {
    reads: nouns as ReadContext,
    commit: async (body) => change(body),
    write: change,
    relaxed: change,
    wakeBy: () => {},
    durable: async () => {},
    ...more,
  };
  return fake as unknown as Store;
}
