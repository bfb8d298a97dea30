// codemode: runs a script with the tools of agents, from a file, from the command line or from standard input.

import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { parseJsonOption, type ParsedOptions, parseOptions, parsePairs } from "../options.ts";

const NAMES = {
  valued: ["eval", "target", "cwd", "arg", "args-json"],
  flags: ["json", "help"],
  short: { e: "eval", h: "help" },
};

const DOC = `Run a script: JavaScript that calls files and the shell of any target.

codemode check.js: run a file; - reads the script from standard input. codemode run check.js: the same.
codemode -e 'return await shell("pwd")': run the code itself.

--target DEVICE and --cwd DIR are where the calls of the script run if they do not say; without --target that is gsv, in this directory. Words after -- are its argv. --arg key=value, repeated, or --args-json JSON are its args.

The script is the body of an async function: await works, and return gives the result, which is printed: text as it is, anything else as JSON. What it logs goes to standard error. --json prints { status, result or error, logs } instead. A failed script ends with 1.

It can use shell(input, { target, cwd, sessionId, wait }), fs.read, fs.write, fs.edit, fs.delete and fs.search with { path, ... }, console and setTimeout, argv and args. File calls answer { ok: true, ... } or { ok: false, error }. shell answers a status: completed, failed (it ended with another code than 0), or running, if the command takes longer than a few seconds: then shell("", { sessionId }) returns more, and wait: 30000 waits longer.

It has no network and no imports. It may run for a minute, and as a command of this shell no longer than the shell's own limit (man shell). It runs in the sandbox of your init process.

Example: codemode --target laptop -e 'const { content } = await fs.read({ path: "package.json", plain: true }); return JSON.parse(content).version'`;

type Result = { logs?: string[] } & ({ status: "completed"; result: unknown } | { status: "failed"; error: string; stack?: string });

export default defineCommandFile({
  name: "codemode",
  usage: "[run] SCRIPT | -e CODE [--target DEVICE] [--cwd DIR] [--arg key=value | --args-json JSON] [--json] [-- word...]",
  doc: DOC,
  async run(context, args): Promise<Output | string> {
    const parsed = parseOptions(args, NAMES);
    const { options } = parsed;
    if (options.has("help")) return `${DOC}\n`;
    const { code, argv } = await readScript(context, parsed);
    const target = options.get("target");
    const isHere = target === undefined || target === "gsv";
    const cwd = chooseDirectory(context, options.get("cwd"), isHere);
    const result = await context.link.runSyscall<Result>("codemode.run", {
      code,
      argv,
      args: readArgs(parsed),
      ...(target === undefined ? {} : { target }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    const exitCode = result.status === "failed" ? 1 : 0;
    if (options.has("json")) return { stdout: `${JSON.stringify(result, null, 2)}\n`, exitCode };
    const logs = (result.logs ?? []).map((line) => `${line}\n`).join("");
    if (result.status === "completed") return { stdout: show(result.result), stderr: `${logs}${adviseReturn(code, result.result)}` };
    return { stderr: `${logs}codemode: ${result.stack ?? result.error}\n`, exitCode };
  },
});

async function readScript({ read, resolve }: CommandContext, { words, after, options }: ParsedOptions) {
  const code = options.get("eval");
  const [path, ...more] = words[0] === "run" ? words.slice(1) : words;
  if (code !== undefined && path !== undefined)
    throw new CommandError(`give a script or -e CODE, not both; words for the script itself come after --`, 2);
  const argv = [...more, ...(after ?? [])];
  if (code !== undefined) return { code, argv };
  if (path === undefined) throw new CommandError("give a script: codemode FILE, or codemode -e CODE; man codemode explains", 2);
  const content = await read(path === "-" ? "-" : resolve(path));
  return { code: new TextDecoder().decode(content), argv };
}

/** A path on a device is resolved there. */
function chooseDirectory({ cwd, resolve }: CommandContext, given: string | undefined, isHere: boolean): string | undefined {
  if (!isHere) return given;
  return given === undefined ? cwd : resolve(given);
}

/** A script without a return has run, and its caller sees nothing of it. */
function adviseReturn(code: string, result: unknown): string {
  const isEmpty = result === null || result === undefined;
  return isEmpty && !/\breturn\b|=>/.test(code) ? "codemode: the script returned nothing: end it with return\n" : "";
}

function readArgs({ options }: ParsedOptions): unknown {
  const json = options.get("args-json");
  if (json !== undefined && options.has("arg")) throw new CommandError("give --arg or --args-json, not both", 2);
  if (json !== undefined) return parseJsonOption("args-json", json);
  return options.has("arg") ? parsePairs("arg", options.list("arg")) : null;
}

function show(result: unknown): string {
  if (result === null || result === undefined) return "";
  return `${typeof result === "string" ? result : JSON.stringify(result, null, 2)}\n`;
}
