// man: the manual. Pages of commands come from their source files, pages of system calls from the generated reference.

import { command } from "../command.ts";
import { readManual, manualIndex } from "../manual.ts";

export default command({
  name: "man",
  usage: "[topic]",
  doc: "Show the manual of a command or a system call such as fs.read. Without a topic, list all pages.",
  run: (context, [topic]) => (topic === undefined || topic === "help" ? manualIndex(context) : readManual(context, topic)),
});
