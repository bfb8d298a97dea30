// What a question asks, in the words of the person who decides: a title without names of syscalls, and why
// approval is required. Everything returned is safe to show. show.ts lists the arguments.

import { isGatewayTarget } from "../lib/target.ts";
import { shorten } from "../lib/shorten.ts";
import { type AskedCall, SUBJECT_CHARS_MAX } from "./asked-call.ts";
import { TITLES } from "./question-titles.ts";
import { MCP_CALL } from "./request.ts";
import { makeVisible } from "./visible.ts";

/** In the imperative, without a question mark: "Run a command on laptop". */
export function titleQuestion(asked: AskedCall): string {
  const { syscall, args, target } = asked;
  if (syscall === MCP_CALL) return `Call ${subject(withoutAddress(target))}`;
  if (syscall === "shell.exec") return `${titleCommand(args)} on ${placeName(target)}`;
  if (syscall === "fs.copy") return `Copy ${describeEnd(args.from)} to ${describeEnd(args.to)}`;
  if (syscall === "repo.apply") return titleCommit(args);
  const title = fill(TITLES[syscall] ?? `Use ${syscall}`, args);
  return ON_TARGET.test(syscall) ? `${title} on ${placeName(target)}` : title;
}

/** Calls that run on the gateway or on a machine. */
const ON_TARGET = /^(?:fs|shell)\.|^sys\.vitals$/;

/** Whether a call has words of its own. */
export function hasTitle(syscall: string): boolean {
  return [MCP_CALL, "shell.exec", "fs.copy", "repo.apply"].includes(syscall) || Object.hasOwn(TITLES, syscall);
}

function fill(title: string, args: AskedCall["args"]): string {
  return title.replace(/\{([^\w}]*)(?:(\w+ ))?(\w+)\}/g, (_, before: string, word: string | undefined, name: string) => {
    const value = args[name];
    return typeof value === "string" && value.trim() !== "" ? `${before}${word ?? ""}${subject(value)}` : "";
  });
}

function titleCommand({ sessionId, signal, input }: AskedCall["args"]): string {
  if (sessionId === undefined) return "Run a command";
  if (signal !== undefined || input === "\u0003") return "Stop a running command";
  return input === "" ? "Check on a running command" : "Send input to a running command";
}

/** How many files a commit deletes is more important than how many it changes. */
function titleCommit({ repo, ops }: AskedCall["args"]): string {
  const list: unknown[] = Array.isArray(ops) ? ops : [];
  const deletes = list.filter((op) => (op as { type?: unknown } | null)?.type === "delete").length;
  const [verb, count] = deletes > 0 ? ["Delete", deletes] : ["Change", list.length];
  return `${verb} ${count} ${count === 1 ? "file" : "files"} in the repository${typeof repo === "string" ? ` ${subject(repo)}` : ""}`;
}

function describeEnd(end: unknown): string {
  const { target, path } = (typeof end === "object" && end !== null ? end : {}) as { target?: unknown; path?: unknown };
  return `${subject(String(path))} on ${placeName(isGatewayTarget(target) ? "gsv" : String(target))}`;
}

/** The gateway, or a machine by its name. */
export function placeName(target: string): string {
  return isGatewayTarget(target) ? "the gateway" : subject(target);
}

function subject(text: string): string {
  return makeVisible(shorten(text.replaceAll(/\s+/g, " ").trim(), SUBJECT_CHARS_MAX));
}

/** The tool and its server, without the server's address. */
function withoutAddress(tool: string): string {
  return tool.replace(/ \(https?:\/\/[^()]*\)$/, "");
}

/** One or two short sentences. What a policy or a person says otherwise is shown as it is. */
export function explainWhy({
  syscall,
  target,
  tags,
  why,
}: Pick<AskedCall, "syscall" | "target"> & { tags: readonly string[]; why: string }) {
  const rule = why.startsWith("Approval required: ") ? explainRule(syscall, target) : `${makeVisible(why).replace(/\.$/, "")}.`;
  const said = syscall === MCP_CALL ? ["connects"] : syscall === "fs.delete" ? ["deletes"] : [];
  const caution = CAUTIONS.find(({ tag }) => tags.includes(tag) && !said.includes(tag));
  if (rule === null) return caution?.alone ?? "This needs your OK.";
  // What is grave may be asked although anything else on machines is allowed.
  if (caution?.isGrave === true && caution.further !== undefined && ON_MACHINES.has(rule)) return caution.further;
  return caution?.further === undefined ? rule : `${rule} ${caution.further}`;
}

function explainRule(syscall: string, target: string): string | null {
  if (syscall === MCP_CALL) return "Using other services as you needs your OK.";
  if (syscall === "fs.delete") return "Deleting files needs your OK.";
  if (isGatewayTarget(target)) return null;
  if (syscall === "shell.exec") return COMMANDS;
  return syscall.startsWith("fs.") && !READS.has(syscall) ? CHANGES : null;
}

const COMMANDS = "Commands on your machines need your OK.";
const CHANGES = "Changes on your machines need your OK.";
const ON_MACHINES: ReadonlySet<string> = new Set([COMMANDS, CHANGES]);

const READS = new Set(["fs.read", "fs.search", "fs.download"]);

/** The gravest first. */
const CAUTIONS: readonly { tag: string; alone: string; further?: string; isGrave?: true }[] = [
  {
    tag: "reads-secret",
    alone: "Reading files that hold secrets needs your OK.",
    further: "This may read secrets, such as keys and passwords.",
    isGrave: true,
  },
  {
    tag: "policy-bearing",
    alone: "Changing what controls agents or machines needs your OK.",
    further: "This changes what controls agents or machines.",
    isGrave: true,
  },
  { tag: "elevates", alone: "Using administrator rights needs your OK.", further: "This uses administrator rights.", isGrave: true },
  { tag: "deletes", alone: "Deleting needs your OK.", further: "This deletes something.", isGrave: true },
  { tag: "connects", alone: "Using the network needs your OK.", further: "This uses the network." },
  { tag: "opaque", alone: "Nobody can tell in advance what this does.", further: "Nobody can tell in advance what this does." },
  { tag: "onto-device", alone: CHANGES },
];
