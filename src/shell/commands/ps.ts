// ps: what runs for the caller. Agent processes join the list when there are some.

import { command } from "../command.ts";

export default command({
  name: "ps",
  usage: "",
  doc: "List your processes. The shell that runs this is among them.",
  async run({ env }) {
    const rows = [
      ["PID", "STATE", "LABEL"],
      [env.get("GSV_PID") || "-", "running", "shell"],
    ];
    return rows.map(([pid = "", state = "", label]) => `${pid.padEnd(36)} ${state.padEnd(8)} ${label}\n`).join("");
  },
});
