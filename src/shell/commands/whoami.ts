// whoami.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "whoami",
  usage: "",
  doc: "Print your user name.",
  run: async ({ who }) => `${who.username}\n`,
});
