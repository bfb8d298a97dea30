// yes. A command's whole output is passed to the next one in a pipe, so it cannot be endless; this many lines should do.

import { defineCommandFile } from "../command.ts";

const LINES = 10_000;

export default defineCommandFile({
  name: "yes",
  usage: "[text]",
  doc: `Print y, or the text, repeatedly. Prints ${LINES} lines, because here a command ends before the next one in a pipe starts.`,
  run: async (_context, args) => `${args.length === 0 ? "y" : args.join(" ")}\n`.repeat(LINES),
});
