// nproc. A command runs in one thread, so the answer is always 1.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "nproc",
  usage: "",
  doc: "Print the number of processors that a command may use: one.",
  run: async () => "1\n",
});
