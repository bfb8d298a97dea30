// The one-time code for setting up a gateway that others can reach: 60 bits, from letters nobody confuses.

import { randomInt } from "node:crypto";

const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export function setupCode(): string {
  const letters = Array.from({ length: 12 }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return [0, 4, 8].map((at) => letters.slice(at, at + 4).join("")).join("-");
}
