// /dev: the few devices that scripts expect.

import { FileError } from "../hardware/filesystem.ts";
import { type Mount, makeSyntheticMount, type Who } from "./mount.ts";

const READ_BYTES = 256;

export function makeDevMount(random: (length: number) => Uint8Array): Mount {
  return makeSyntheticMount("/dev", {
    async lookUp(_who, names) {
      if (names.length === 0) return ["null", "random", "urandom", "zero"];
      switch (names.join("/")) {
        case "null":
          return "";
        case "zero":
          return new Uint8Array(READ_BYTES);
        case "random":
        case "urandom":
          return random(READ_BYTES);
        default:
          return null;
      }
    },
    write: discard,
    append: discard,
    mode: (_who, names) => (names.join("/") === "null" ? 0o666 : 0o444),
  });
}

async function discard(_who: Who, names: readonly string[]): Promise<void> {
  if (names.join("/") !== "null") throw new FileError("EPERM", `/dev/${names.join("/")}`);
}
