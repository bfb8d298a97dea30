// nproc. A command runs in one thread, so the answer is always 1.

import { command } from "../command.ts";

export default command({
  name: "nproc",
  usage: "",
  doc: "Print the number of processors that a command may use: one.",
  run: async () => "1\n",
});
