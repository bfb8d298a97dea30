// What is known about a call before it runs: where it runs, and its tags. Shell commands are parsed. Matches of the plain
// substring search, such as `rm `, are always included, so that policies written for that search keep their meaning.

import { isGatewayTarget } from "../lib/target.ts";
import { type ScriptParser, readCommands } from "./commands.ts";
import { namesSecret } from "../lib/secrets.ts";
import {
  type PathContext,
  changedLocationTag,
  isPolicyBearing,
  PATH_CHARS_MAX,
  locationTags,
  normalizePath,
  pathsInWord,
} from "./paths.ts";
import { type CallToJudge, type JudgedCall, MCP_CALL, type Tag, type TargetClass } from "./request.ts";
import { isVettedCommand } from "./vetted-commands.ts";

/** Without a parser every command is opaque. */
export function judge(request: CallToJudge, parse: ScriptParser = () => null): JudgedCall {
  const target = classifyTarget(request);
  const around: PathContext = request;
  const tags = new Set<Tag>(target === "device" ? ["remote"] : []);
  for (const tag of callTags(request)) tags.add(tag);
  if (request.call === "shell.exec") for (const tag of shellTags(request, target, parse)) tags.add(tag);
  else for (const tag of pathTags(request, target)) tags.add(tag);
  return { ...request, target, tags, normalizePath: (path) => normalizePath(path, target, around) };
}

/** A copy is on a device if either end is. Only `gsv` is the gateway: a device may have any other name. */
export function classifyTarget({ call, args, device }: CallToJudge): TargetClass {
  // A copy runs in the gateway, but its class depends on its ends.
  if (call === "fs.copy") return [args.from, args.to].every((end) => isGatewayTarget(toCopyEnd(end).target)) ? "gsv" : "device";
  if (device !== undefined) return device === null ? "gsv" : "device";
  if (call === "shell.exec" && args.sessionId !== undefined) return "device";
  return isGatewayTarget(args.target) ? "gsv" : "device";
}

function toCopyEnd(end: unknown): { target?: unknown; path?: unknown } {
  return typeof end === "object" && end !== null ? end : {};
}

const WRITES: ReadonlySet<string> = new Set(["fs.write", "fs.edit", "fs.delete", "fs.upload", "fs.copy", "repo.apply", "repo.import"]);

/**
 * Calls that reveal a file's content. A search skips files that hold secrets unless it starts at one. `namesOnly` comes from the
 * gateway's own shell, which reads names and sizes separately from contents; no caller can send it.
 */
const READS: ReadonlySet<string> = new Set(["fs.read", "fs.download", "fs.search", "fs.copy"]);

/** Tags from the call's name, and from the arguments of repository calls. */
function callTags({ call, args }: CallToJudge): Tag[] {
  const tags: Tag[] = [];
  if (WRITES.has(call)) tags.push("mutating");
  if (call === "fs.delete") tags.push("destructive", "deletes");
  if (STEERING_CALL.test(call) && !READING_CALL.test(call) && !call.startsWith("sys.workspace.")) tags.push("policy-bearing");
  if (call === "repo.import" || call === MCP_CALL || call === "net.fetch") tags.push("network", "connects");
  if (call === "repo.apply") tags.push(...repoTags(args));
  if (call === "repo.import" && isPolicyRepo(args.repo)) tags.push("policy-bearing");
  return tags;
}

/**
 * Families that decide who may do what, or what runs unattended. A new call in them counts as policy-bearing until it is known to
 * read.
 */
const STEERING_CALL =
  /^(?:sys|sched|pkg|adapter|account|link|approval)\.|^proc\.(?:hil|setidentity|approval)|\.policy\.set$|^signal\.watch$/;
const READING_CALL = /\.(?:list|get|info|read|status|search|preview|upcoming)$|^sched\.runs$|^sys\.mcp\.call$/;

function repoTags({ repo, ops }: CallToJudge["args"]): Tag[] {
  const list: unknown[] = Array.isArray(ops) ? ops : [];
  const paths = list.flatMap((op) => Object.entries(op ?? {}).filter(([key]) => key === "path" || key === "from" || key === "to"));
  const isDelete = list.some((op) => (op as { type?: unknown } | null)?.type !== "put");
  const around = { cwd: "/", home: "/", workspace: null };
  const isBearing = paths.some(([, path]) => isPolicyBearing(`./${String(path)}`, "device", around)) || (isPolicyRepo(repo) && isDelete);
  return [...(isDelete ? (["destructive", "deletes"] as const) : []), ...(isBearing ? (["policy-bearing"] as const) : [])];
}

/** Whether this is a home repository, which holds instructions and skills. */
function isPolicyRepo(repo: unknown): boolean {
  return typeof repo !== "string" || /\/home$/i.test(repo.trim());
}

/** Tags from the paths among the arguments. */
function pathTags(request: CallToJudge, target: TargetClass): Set<Tag> {
  const { call, args } = request;
  const tags = new Set<Tag>();
  const inRepository = call === "repo.read" ? args.path : call === "repo.search" ? args.prefix : undefined;
  if (typeof inRepository === "string" && namesSecret(inRepository)) tags.add("reads-secret");
  if (!call.startsWith("fs.")) return tags;
  const places = call === "fs.copy" ? [toCopyEnd(args.from), toCopyEnd(args.to)] : [{ target: args.target, path: args.path }];
  const sideOf = (end: unknown): TargetClass => (call === "fs.copy" ? (isGatewayTarget(end) ? "gsv" : "device") : target);
  for (const { target: end, path } of places)
    if (typeof path === "string") for (const tag of locationTags(path, sideOf(end), request)) tags.add(tag);
  const read = READS.has(call) && args.namesOnly !== true ? places[0]!.path : undefined;
  if (typeof read === "string" && namesSecret(read)) tags.add("reads-secret");
  const changed = WRITES.has(call) ? places.at(-1) : undefined;
  if (changed === undefined || typeof changed.path !== "string") return tags;
  const side = sideOf(changed.target);
  if (side === "device") tags.add("onto-device");
  if (isPolicyBearing(changed.path, side, request)) tags.add("policy-bearing");
  const place = side === "gsv" ? changedLocationTag(changed.path, request) : null;
  if (place !== null) tags.add(place);
  return tags;
}

function shellTags(request: CallToJudge, target: TargetClass, parse: ScriptParser): Set<Tag> {
  const { args } = request;
  const input = typeof args.input === "string" ? args.input : "";
  const tags = new Set<Tag>(substringTags(input));
  const isSession = args.sessionId !== undefined;
  const isLook = isSession && input === "" && args.signal === undefined && args.tty === undefined;
  if (isLook) return tags.add("looks");
  if (target === "device") tags.add("onto-device");
  // Input to a program means whatever that program decides; an empty command with a terminal is a shell.
  if (isSession || args.tty !== undefined || typeof args.input !== "string") tags.add("opaque");
  const reading = readCommands(input, parse);
  for (const tag of reading.tags) tags.add(tag);
  // On the gateway each file is judged when the command opens it.
  if (reading.readsUnnamedFiles && target === "device") tags.add("unknown-reads");
  // What a command on the gateway changes passes the gate as calls of its own.
  if (target === "device" && !(isVettedCommand(input) && hasOnlyVettedArgs(args))) tags.add("unvetted");
  // Only the device knows where it starts a command.
  const start = target === "device" ? "." : request.cwd;
  const cwd = typeof args.cwd === "string" ? normalizePath(args.cwd, target, request) : start;
  const around: PathContext = { home: request.home, workspace: request.workspace, cwd: cwd ?? "/" };
  if (typeof args.cwd === "string") for (const tag of locationTags(args.cwd, target, request)) tags.add(tag);
  for (const word of [...reading.words, ...reading.directories]) {
    if (PLACE_TAGS.every((tag) => tags.has(tag))) break;
    for (const path of pathsInWord(word)) if (looksLikePath(path)) for (const tag of locationTags(path, target, around)) tags.add(tag);
  }
  if (mentionsSecret(reading.wordPatterns, reading.directories) || namesSecret(request.cwd)) tags.add("reads-secret");
  if (typeof args.cwd === "string" && namesSecret(args.cwd)) tags.add("reads-secret");
  if (emptiesLastingFile(reading.emptiedFiles, reading.directories, target, around)) tags.add("deletes").add("destructive");
  if (changesPolicy(input, reading.changedPaths, reading.directories, tags, target, around)) tags.add("policy-bearing");
  return tags;
}

/** These say where and how long a command runs, and nothing else. */
const VETTED_ARGS: ReadonlySet<string> = new Set("input target cwd timeout wait yieldMs background until after streams".split(" "));

function hasOnlyVettedArgs(args: CallToJudge["args"]): boolean {
  return Object.keys(args).every((name) => VETTED_ARGS.has(name));
}

function changesPolicy(
  input: string,
  changed: ReadonlySet<string>,
  directories: ReadonlySet<string>,
  tags: ReadonlySet<Tag>,
  target: TargetClass,
  around: PathContext,
): boolean {
  // The command changes something that the words do not show: any mention counts, even a fragment of a path.
  const isUnsure = tags.has("opaque") || tags.has("unknown-path");
  if (isUnsure && /context\.d|skills\.d|constitution\.md|\.gsv|approval/i.test(input)) return true;
  // Too many combinations to check.
  if (directories.size > DIRECTORIES_MAX || changed.size * (1 + directories.size) > PLACES_MAX) return changed.size > 0;
  const tops = [around.cwd, ...[...directories].map((path) => normalizePath(path, target, around) ?? "/")];
  for (const path of changed)
    for (const cwd of tops)
      if (isPolicyBearing(target === "device" ? joinDirectory(cwd, path) : path, target, { ...around, cwd })) return true;
  return false;
}

/** Whether a word may name a secret, relative to the starting directory or to one that the command changes to. */
function mentionsSecret(shapes: ReadonlySet<string>, directories: ReadonlySet<string>): boolean {
  const tops = ["", ...[...directories].map((top) => `${top}/`)];
  let chars = 0;
  let starred = 0;
  for (const shape of shapes)
    for (const path of pathsIn(shape)) {
      if (path.includes("*")) starred++;
      chars += (path.length + CHARS_PER_PLACE) * tops.length;
      // Too many combinations to check.
      if (chars > SHAPES_CHARS_MAX || starred * tops.length > STARRED_MAX) return true;
      if (path !== "" && path !== "*" && path.length <= PATH_CHARS_MAX && tops.some((top) => namesSecret(top + path))) return true;
    }
  return false;
}

/** Paths inside a word, such as `--file=path`, `if=path`, `@path` and `host:path`. */
function pathsIn(shape: string): Set<string> {
  const textsAfter = (mark: string) => [shape.slice(shape.indexOf(mark) + 1), shape.slice(shape.lastIndexOf(mark) + 1)];
  return new Set([...pathsInWord(shape), ...textsAfter("="), ...textsAfter(":"), ...textsAfter("@")]);
}

const CHARS_PER_PLACE = 30;
const SHAPES_CHARS_MAX = 150_000;
const STARRED_MAX = 150;

/** Temporary files may be emptied. */
function emptiesLastingFile(
  emptied: ReadonlySet<string | null>,
  directories: ReadonlySet<string>,
  target: TargetClass,
  around: PathContext,
): boolean {
  for (const path of emptied) {
    if (path === "/dev/null") continue;
    const isKnown = path !== null && (path.startsWith("/") || directories.size === 0);
    if (!isKnown || target === "device" || changedLocationTag(path, around) !== "scratch") return true;
  }
  return false;
}

const DIRECTORIES_MAX = 16;
const PLACES_MAX = 1_500;
const PLACE_TAGS: readonly Tag[] = ["hidden-path", "outside-cwd", "outside-home"];

/** For a device, where a relative path stays relative. */
function joinDirectory(cwd: string, path: string): string {
  return /^[/~]|^[A-Za-z]:/.test(path) ? path : `${cwd}/${path}`;
}

function looksLikePath(word: string): boolean {
  return !word.startsWith("-") && !/^\w+:\/\//.test(word) && /^[~./]|\//.test(word);
}

/** A plain substring search, in addition to parsing. It also finds `rm ` in "confirm this". */
function substringTags(input: string): Tag[] {
  const text = input.toLowerCase();
  return SUBSTRING_TAGS.flatMap(([tag, parts]) => (parts.some((part) => text.includes(part)) ? [tag] : []));
}

const SUBSTRING_TAGS: readonly (readonly [Tag, readonly string[]])[] = [
  ["destructive", ["rm ", "dd ", "mkfs", "chmod ", "chown ", "mv ", "rmdir ", "truncate ", "reboot", "shutdown"]],
  ["network", ["curl ", "wget ", "ssh ", "scp ", "nc ", "telnet ", "ftp "]],
  ["privileged", ["sudo ", "su ", "passwd", "useradd", "userdel", "systemctl ", "service ", "mount ", "umount "]],
];
