// whoami.

import { command } from "../command.ts";

export default command({
  name: "whoami",
  usage: "",
  doc: "Print your user name.",
  run: async ({ who }) => `${who.username}\n`,
});
