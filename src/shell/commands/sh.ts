// sh: runs a script in the same shell.

import { defineCommandFile } from "../command.ts";
import { runInnerShell } from "../inner.ts";

export default defineCommandFile({
  name: "sh",
  usage: "[-eunx] [-o option] [-c script | path] [word...]",
  doc: "Run a script in its own shell. -c takes the script itself, -n only checks its syntax, -e -u -x -o are the options of set.",
  run: runInnerShell,
});
