// yes. A pipe here is handed over whole, so it cannot be endless: as many lines as anybody is likely to read.

import { command } from "../command.ts";

const LINES = 10_000;

export default command({
  name: "yes",
  usage: "[text]",
  doc: `Print a line again and again: y, or the text. ${LINES} times, because a pipe here ends before the next command begins.`,
  run: async (_context, args) => `${args.length === 0 ? "y" : args.join(" ")}\n`.repeat(LINES),
});
