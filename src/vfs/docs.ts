// /etc/docs and /etc/man: the guides as they are written, and a page for each call. Loaded when somebody first looks, so
// that a gateway nobody reads them on does not hold them.

import { type Mount, synthetic } from "./mount.ts";

/** Texts by name. */
type Shelf = Readonly<Record<string, string>>;

export function docsMounts(manuals: () => Promise<Shelf>): Mount[] {
  return [shelf("/etc/docs", async () => (await import("../generated/guides.ts")).guides), shelf("/etc/man", manuals)];
}

function shelf(at: string, load: () => Promise<Shelf>): Mount {
  return synthetic(at, {
    async look(_who, names) {
      const texts = await load();
      if (names.length === 0) return Object.keys(texts);
      return names.length === 1 && Object.hasOwn(texts, names[0]!) ? texts[names[0]!]! : null;
    },
  });
}
