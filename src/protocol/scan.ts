// Scans a frame before it is parsed. JSON.parse accepts a million levels and turns six megabytes of `{}` into a hundred megabytes
// of heap, so depth and tokens are counted first. Skipping a string takes one native search whatever its length, so an image in a
// frame is cheap.

import { LIMITS } from "./limits.ts";

const QUOTE = 34;
const BACKSLASH = 92;

/** The problem with this text, or null if it may be parsed. Malformed text is left for the parser to refuse. */
export function findFrameProblem(text: string): string | null {
  let depth = 0;
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (at === -1) return null;
        tokens++;
        break;
      case 123: // {
      case 91: // [
        depth++;
        tokens++;
        if (depth > LIMITS.frameDepth) return `Frame too deep: at most ${LIMITS.frameDepth} levels`;
        break;
      case 125: // }
      case 93: // ]
        depth--;
        break;
      case 44: // ,
      case 58: // :
        tokens++;
        break;
      default:
    }
    if (tokens > LIMITS.frameTokens) return `Frame too complex: at most ${LIMITS.frameTokens} tokens`;
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
    at = text.indexOf('"', at + 1);
  }
  return -1;
}
