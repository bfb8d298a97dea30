// nproc. A command runs in one thread and nothing of it runs beside it.

import { command } from "../command.ts";

export default command({
  name: "nproc",
  usage: "",
  doc: "Print how many processors a command may use: one.",
  run: async () => "1\n",
});
