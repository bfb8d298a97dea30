// The environment of a service: the PATH of a login shell, and the variables that locate GSV's files. Never a token: other users
// can read the unit.

import { isAbsolute } from "node:path";
import { runProgram } from "./program.ts";

const PASSED_VARIABLES = [
  "GSV_CONFIG",
  "GSV_HOME",
  "XDG_CONFIG_HOME",
  "GSV_NODE_LOG_MAX_BYTES",
  "GSV_NODE_LOG_MAX_FILES",
  "NODE_EXTRA_CA_CERTS",
];

export async function makeServiceEnvironment(env: NodeJS.ProcessEnv = process.env): Promise<Record<string, string>> {
  const variables = PASSED_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  return { PATH: await loginPath(env), ...(Object.fromEntries(variables) as Record<string, string>) };
}

/** The PATH of the user's login shell, because a service manager's own has few folders. */
async function loginPath(env: NodeJS.ProcessEnv): Promise<string> {
  const shell = env.SHELL && isAbsolute(env.SHELL) ? env.SHELL : "/bin/sh";
  // Between markers, because start-up files may print text.
  const { code, out } = await runProgram(shell, ["-lc", `printf '\\n<PATH>%s</PATH>\\n' "$PATH"`], env);
  const found = code === 0 ? /<PATH>(.+)<\/PATH>/.exec(out)?.[1] : undefined;
  return found ?? env.PATH ?? "/usr/local/bin:/usr/bin:/bin";
}
