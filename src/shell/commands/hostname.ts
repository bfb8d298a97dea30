// hostname.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "hostname",
  usage: "",
  doc: "Print the gateway's name. Root can set it: gsv config set config/server/name NAME.",
  run: async ({ host }) => `${host.name}\n`,
});
