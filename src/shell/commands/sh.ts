// sh: runs a script in the same shell.

import { command } from "../command.ts";
import { innerShell } from "../inner.ts";

export default command({
  name: "sh",
  usage: "[-eunx] [-o option] [-c script | path] [word...]",
  doc: "Run a script in a shell of its own. -c the script itself, -n only reads it and says what is wrong, -e -u -x -o as set takes them.",
  run: innerShell,
});
