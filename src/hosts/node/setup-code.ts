// The one-time code for the setup of a gateway that others can reach: 60 bits, in characters that are hard to confuse.

import { randomInt } from "node:crypto";

const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export function makeSetupCode(): string {
  const letters = Array.from({ length: 12 }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return [0, 4, 8].map((at) => letters.slice(at, at + 4).join("")).join("-");
}
