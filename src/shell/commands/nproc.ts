// nproc. A command runs in one thread, so the answer is always 1.

import { command } from "../command.ts";

export default command({
  name: "nproc",
  usage: "",
  doc: "Print how many processors a command may use: one.",
  run: async () => "1\n",
});
