// man: the manual. Pages of commands come from their source files, pages of system calls from the generated reference.

import { defineCommandFile } from "../command.ts";
import { readManual, formatManualIndex } from "../manual.ts";

export default defineCommandFile({
  name: "man",
  usage: "[topic]",
  doc: "Show the manual of a command or a system call such as fs.read. Without a topic, list all pages.",
  run: (context, [topic]) => (topic === undefined || topic === "help" ? formatManualIndex(context) : readManual(context, topic)),
});
