// What a service gets of the environment it was installed from: the PATH of a login, and the variables that say where
// GSV's own files are. Never a token: the unit is a file that others can read.

import { isAbsolute } from "node:path";
import { ran } from "./program.ts";

const KEPT = ["GSV_CONFIG", "GSV_HOME", "XDG_CONFIG_HOME", "GSV_NODE_LOG_MAX_BYTES", "GSV_NODE_LOG_MAX_FILES", "NODE_EXTRA_CA_CERTS"];

export async function surroundings(env: NodeJS.ProcessEnv = process.env): Promise<Record<string, string>> {
  const kept = KEPT.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  return { PATH: await loginPath(env), ...(Object.fromEntries(kept) as Record<string, string>) };
}

/** As the user's shell makes it at login, because a service manager's own has few folders. */
async function loginPath(env: NodeJS.ProcessEnv): Promise<string> {
  const shell = env.SHELL && isAbsolute(env.SHELL) ? env.SHELL : "/bin/sh";
  // Between marks, since start-up files may print things.
  const { code, out } = await ran(shell, ["-lc", `printf '\\n<PATH>%s</PATH>\\n' "$PATH"`], env);
  const found = code === 0 ? /<PATH>(.+)<\/PATH>/.exec(out)?.[1] : undefined;
  return found ?? env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
}
