// /etc/docs and /etc/man: the guides, and a page for each call. They are loaded on first use, so that a gateway on which nobody
// reads them does not keep them in memory.

import { type Mount, makeSyntheticMount } from "./mount.ts";

/** Texts by name. */
type Texts = Readonly<Record<string, string>>;

export function makeDocsMounts(manuals: () => Promise<Texts>): Mount[] {
  return [makeTextsMount("/etc/docs", async () => (await import("../generated/guides.ts")).guides), makeTextsMount("/etc/man", manuals)];
}

function makeTextsMount(at: string, load: () => Promise<Texts>): Mount {
  return makeSyntheticMount(at, {
    async lookUp(_who, names) {
      const texts = await load();
      if (names.length === 0) return Object.keys(texts);
      return names.length === 1 && Object.hasOwn(texts, names[0]!) ? texts[names[0]!]! : null;
    },
  });
}
