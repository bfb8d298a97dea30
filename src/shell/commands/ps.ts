// ps: lists the shell that runs it and the caller's agent processes.

import { defineCommandFile } from "../command.ts";

type Entry = { pid: string; state: string; label: string | null; profile: string };

export default defineCommandFile({
  name: "ps",
  usage: "",
  doc: "List your processes. The list includes the shell that runs this; proc list shows more about the others.",
  async run({ env, link, who }) {
    // A caller without the right to list processes still sees the shell.
    const { processes } = await link.runSyscall<{ processes: Entry[] }>("proc.list", { uid: who.uid }).catch(() => ({ processes: [] }));
    const rows = [
      ["PID", "STATE", "LABEL"],
      [env.get("GSV_PID") || "-", "running", "shell"],
      ...processes.map(({ pid, state, label, profile }) => [pid, state, label ?? profile]),
    ];
    return rows.map(([pid = "", state = "", label]) => `${pid.padEnd(36)} ${state.padEnd(12)} ${label}\n`).join("");
  },
});
