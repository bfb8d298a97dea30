// What a command line runs, read from its syntax tree: through quotes, pipes, substitutions, functions and here-documents,
// and through programs that run others. It finds what plain words tell; where words are made while the command runs, it
// says opaque, which is the worst that can be said.

import { isNode, type Part, type Redirection, type Script, type Simple, type Word } from "../shell/syntax.ts";
import { awkTags, carrierTags, gitTags, sedTags, SHELLS, STEERING, tagsOf, wrapper, type Wrapper } from "./programs.ts";
import type { Tag } from "./request.ts";

export type Parse = (text: string) => Script | null;

export type Reading = {
  tags: Set<Tag>;
  /** Every word that could be a path. */
  words: Set<string>;
  /** Those that something is done to. */
  changed: Set<string>;
  /** Directories that the command goes to, against which others are to be read. */
  directories: Set<string>;
};

/** Texts within texts, such as `sh -c "sh -c ..."`. */
const NESTING_MAX = 6;

export function readCommands(text: string, parse: Parse): Reading {
  const reader = new Reader(parse);
  reader.script(text, 0);
  return reader.reading;
}

class Reader {
  readonly reading: Reading = { tags: new Set(), words: new Set(), changed: new Set(), directories: new Set() };
  readonly #parse: Parse;
  readonly #functions = new Set<string>();
  #nesting = 0;

  constructor(parse: Parse) {
    this.#parse = parse;
  }

  script(text: string, nesting: number): void {
    if (text.trim() === "") return;
    const tree = nesting > NESTING_MAX ? null : this.#parse(text);
    if (tree === null || !isPlain(tree)) this.#add("compound");
    if (tree === null) return this.#add("opaque");
    const outer = this.#nesting;
    this.#nesting = nesting;
    this.#definitions(tree);
    this.#walk(tree);
    this.#nesting = outer;
  }

  #add(...tags: readonly Tag[]): void {
    for (const tag of tags) this.reading.tags.add(tag);
  }

  /** First, so that a call may stand before the definition. */
  #definitions(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (isNode(node) && node.type === "FunctionDef") this.#functions.add((node as { name?: unknown }).name as string);
    for (const child of Object.values(node)) this.#definitions(child);
  }

  #walk(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (isNode(node)) {
      if (node.type === "SimpleCommand") this.#simple(node as Simple);
      if (node.type === "Redirection") this.#redirection(node as Redirection);
      if (node.type === "Assignment" || node.type === "For") this.#variable(node);
      if (node.type === "ArithCommandSubst") this.#text([(node as { command?: unknown }).command as string]);
      if ("deferredError" in node) this.#add("opaque");
      if (node.type === "Transform" || node.type === "Indirection") this.#add("opaque");
      // Some texts in the tree are taken apart only while they run, such as an array's index.
      for (const [key, value] of Object.entries(node))
        if (typeof value === "string" && !TEXTS.has(key) && RUNS.test(value)) this.#add("opaque");
    }
    for (const child of Object.values(node)) this.#walk(child);
  }

  #variable(node: { type: string; name?: unknown; variable?: unknown }): void {
    const name = String(node.name ?? node.variable).replace(/\[.*$/s, "");
    if (STEERING.test(name) || holdsLaterCommand(node)) this.#add("opaque");
  }

  #redirection({ operator, target }: Redirection): void {
    if (target.type !== "Word" || operator === "<<<") return;
    const { text, start } = read(target);
    if (/^\/dev\/(?:tcp|udp)\//.test(start)) this.#add("network", "connects");
    // Another descriptor, such as 2>&1.
    if (operator.endsWith("&") && text !== null && /^\d*-?$/.test(text)) return;
    if (text !== null) this.reading.words.add(text);
    if (operator === "<" || operator === "<&") return;
    this.#add("mutating");
    this.#changes(text);
  }

  #simple({ name, args, redirections }: Simple): void {
    if (name === null) return;
    const given = redirections.flatMap(({ operator, target }) =>
      target.type === "HereDoc" ? [read(target.content).text] : operator === "<<<" ? [read(target).text] : [],
    );
    this.#run([name, ...args].map(read), given);
  }

  /** One program with its words, and the texts it is given to read. */
  #run([first, ...args]: readonly Read[], given: readonly (string | null)[] = []): void {
    if (first === undefined) return;
    for (const { text } of args) if (text !== null && text !== "") this.reading.words.add(text);
    if (first.text === null) return this.#add("opaque");
    const name = programName(first.text);
    if (!isFromPath(first.text) && !this.#functions.has(first.text)) this.#add("opaque");
    const texts = args.map(({ text }) => text);
    const isLoose = args.some((arg) => arg.isLoose);
    if (LATER.has(name) && texts.some((text) => text !== null && RUNS.test(text))) this.#add("opaque");
    if (SHELLS.has(name)) return this.#shell(args, given);
    if (name === "eval" || name === "trap") return this.#text(name === "eval" ? texts : texts.slice(0, 1));
    if (name === "." || name === "source") return this.#add("opaque");
    if (NAMING.has(name)) this.#naming(name, args);
    if (name === "cd" || name === "pushd") this.#goes(texts);
    if (name === "find" || name === "fd") return this.#find(args);
    const wraps = wrapper(name);
    if (wraps !== undefined) return this.#wrapped(name, wraps, args);
    const carried = carrierTags(name);
    if (carried !== undefined) return this.#carried(name, carried, args);
    const tags = this.#tagsOf(name, texts, isLoose);
    this.#add(...tags);
    if (!tags.some((tag) => CHANGING.has(tag))) return;
    for (const text of texts) this.#changes(text);
    if (name === "cp" && texts.some((text) => text !== null && /^-\w*[rRa]|^--(?:recursive|archive)/.test(text))) this.#add("unknown-path");
  }

  #tagsOf(name: string, texts: readonly (string | null)[], isLoose: boolean): readonly Tag[] {
    if (name === "git") return gitTags(isLoose ? [null] : texts);
    if (name === "sed" || name === "gsed")
      return sedTags(isLoose ? texts.map((text, at) => (at === 0 ? text : (text ?? "file.txt"))) : texts);
    if (/^[gmn]?awk$/.test(name)) return awkTags(texts.map((text, at) => (at === 0 ? text : (text ?? ""))));
    if (name === "sort" && texts.some((text) => text !== null && /^-[a-zA-Z]*o|^--(?:output|compress-program)/.test(text)))
      return ["mutating", "opaque"];
    if (name === "date" && texts.some((text) => text !== null && /^-[a-zA-Z]*s|^--set/.test(text))) return ["elevates", "privileged"];
    if (/^tar$|^bsdtar$|^gtar$/.test(name))
      return texts.some((text) => text === null || /^--(?:to-command|use-compress|checkpoint|rsh)|^-[a-zA-Z]*I/.test(text))
        ? ["mutating", "opaque"]
        : ["mutating", "unknown-path"];
    if (name === "rg" && texts.some((text) => text !== null && text.startsWith("--pre"))) return ["opaque"];
    return tagsOf(name) ?? (this.#functions.has(name) ? [] : ["opaque"]);
  }

  #shell(args: readonly Read[], given: readonly (string | null)[]): void {
    const at = args.findIndex(({ text }) => text !== null && /^[-+][a-zA-Z]*c/.test(text));
    if (at >= 0 && args.slice(0, at).every(({ text }) => text !== null && /^[-+]/.test(text))) {
      const script = args.slice(at + 1).find(({ text }) => text === null || !/^[-+]\w/.test(text));
      return this.#text([script?.text ?? null]);
    }
    const isFile = args.some(({ text }) => text === null || (!/^[-+]/.test(text) && text !== ""));
    if (isFile || given.length === 0) return this.#add("opaque");
    this.#text(given.slice(-1));
  }

  /** A command line in a word. */
  #text(texts: readonly (string | null)[]): void {
    if (texts.includes(null)) this.#add("opaque");
    this.script(texts.map((text) => text ?? "").join(" "), this.#nesting + 1);
  }

  #wrapped(name: string, { flags, valued, operands = 0 }: Wrapper, args: readonly Read[]): void {
    let at = 0;
    for (; at < args.length; at++) {
      const { text, start } = args[at]!;
      if (name === "env" && /^\w+=/.test(start)) {
        if (STEERING.test(start.slice(0, start.indexOf("=")))) this.#add("opaque");
        continue;
      }
      if (text === null) return this.#add("opaque");
      if (text === "--" || (text === "-" && name === "env")) continue;
      if (!text.startsWith("-")) break;
      // It only tells where the program is.
      if (name === "command" && /^-[pvV]*[vV]$/.test(text)) return;
      if (name === "nice" && /^-\d+$/.test(text)) continue;
      if (
        /^--(?:foreground|preserve-status|null|no-run-if-empty|verbose|ignore-environment)$|^--[a-z-]+=(?!.*\s)/.test(text) &&
        !text.startsWith("--split")
      )
        continue;
      const value = text
        .slice(1)
        .split("")
        .findIndex((letter) => !flags.includes(letter));
      if (value === -1) continue;
      if (!valued.includes(text[value + 1]!)) {
        this.#carried(name, ["opaque"], args);
        return;
      }
      if (value + 2 === text.length) at++;
    }
    const rest = args.slice(at + operands);
    // What xargs adds is not known.
    if (rest.length > 0) this.#run(name === "xargs" ? [...rest, { text: null, start: "", isLoose: true }] : rest);
  }

  /** Which of the words is the command is not known, so every one of them is tried, and texts that could be one are read. */
  #carried(name: string, tags: readonly Tag[], args: readonly Read[]): void {
    this.#add("opaque", ...tags);
    for (const [at, { text }] of args.entries()) {
      if (text === null) continue;
      if (/\s/.test(text.trim())) this.#text([text]);
      else if (tagsOf(programName(text))?.length) this.#run(args.slice(at));
      else if (SHELLS.has(programName(text)) && at < args.length - 1) this.#run(args.slice(at));
    }
    if (name === "coproc") this.#run(args);
  }

  #find(args: readonly Read[]): void {
    const tops = args.slice(0, args.findIndex(({ start }) => /^[-(!]/.test(start)) >>> 0);
    for (const [at, { text, isLoose }] of args.entries()) {
      // A pattern of names gives no option; a variable might.
      if (text === null && isLoose && at > 0) this.#add("opaque");
      if (text === "-delete") this.#add("deletes", "destructive", "mutating");
      if (text !== null && /^-f(?:print|ls)/.test(text)) this.#add("mutating", "unknown-path");
      const isRun = text !== null && /^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(text);
      // What is done to a place is done to all below it.
      if (isRun || text === "-delete") for (const top of tops) this.#changes(top.text);
      if (!isRun) continue;
      const rest = args.slice(at + 1);
      const end = rest.findIndex(({ text }) => text === ";" || text === "+");
      this.#run(rest.slice(0, end === -1 ? undefined : end));
    }
  }

  /** Names that get a new meaning. */
  #naming(name: string, args: readonly Read[]): void {
    if (name === "alias" && args.some(({ text }) => text === null || text.includes("="))) return this.#add("opaque");
    if (name === "hash" || name === "enable" || name === "bind" || name === "complete") return this.#add("opaque");
    for (const { start, text } of args) {
      const named = /^(\w+)(?:=|\+=|\[|$)/.exec(start)?.[1];
      if (named === undefined ? text === null : STEERING.test(named)) this.#add("opaque");
    }
  }

  #goes(texts: readonly (string | null)[]): void {
    const to = texts.find((text) => text === null || !/^-[LPe@]+$/.test(text));
    if (to === null || to === "-") this.#add("unknown-path");
    else this.reading.directories.add(to ?? "~");
  }

  #changes(text: string | null): void {
    if (text === null) return this.#add("unknown-path");
    // dd of=path, --output=path
    for (const path of [text, text.slice(text.indexOf("=") + 1)]) if (path !== "") this.reading.changed.add(path);
  }
}

const TEXTS = new Set(["value", "sourceText", "originalText", "command", "type", "delimiter", "message", "token"]);
const RUNS = /\$\(|`/;
const NAMING = new Set([
  "alias",
  "export",
  "declare",
  "typeset",
  "local",
  "readonly",
  "read",
  "mapfile",
  "readarray",
  "hash",
  "enable",
  "bind",
  "complete",
  "printf",
]);
/** What they are given is taken apart as a sum or a variable's name, and commands in it run. */
const LATER = new Set([
  "test",
  "[",
  "let",
  "unset",
  "export",
  "declare",
  "typeset",
  "local",
  "readonly",
  "read",
  "mapfile",
  "readarray",
  "printf",
]);
const CHANGING: ReadonlySet<Tag> = new Set<Tag>(["mutating", "destructive", "deletes", "opaque"]);

/** A quoted text with a command in it, kept for later. */
function holdsLaterCommand(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const { type, value } = node as { type?: unknown; value?: unknown };
  if ((type === "SingleQuoted" || type === "Escaped" || type === "Literal") && typeof value === "string" && RUNS.test(value)) return true;
  return type !== "CommandSubstitution" && Object.values(node).some(holdsLaterCommand);
}

/** One program, its words, and nothing that is run to make them. */
function isPlain({ statements }: Script): boolean {
  const [statement, ...others] = statements;
  const [pipeline, ...more] = statement?.pipelines ?? [];
  const [command, ...piped] = pipeline?.commands ?? [];
  if (others.length + more.length + piped.length > 0 || statement?.background || statement?.deferredError) return false;
  if (command?.type !== "SimpleCommand" || command.redirections.length + command.assignments.length > 0) return false;
  return [command.name, ...command.args].every((word) => word !== null && !JSON.stringify(word).includes("Substitution"));
}

/** Without its directory, and as a disk without case would find it. */
function programName(text: string): string {
  return text
    .slice(text.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

/** A path elsewhere may be a program somebody wrote a moment ago. */
function isFromPath(text: string): boolean {
  return !text.includes("/") || /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/.test(text);
}

type Read = {
  /** What the word is, or null where it is made while the command runs. */
  text: string | null;
  /** As much of it as is known. */
  start: string;
  /** Whether it may become several words, or none. */
  isLoose: boolean;
};

function read({ parts }: Word): Read {
  let start = "";
  for (const [at, part] of parts.entries()) {
    const text = textOf(part);
    if (text === null) return { text: null, start, isLoose: parts.slice(at).some(isLoose) };
    start += text;
  }
  return { text: start, start, isLoose: false };
}

function textOf(part: Part): string | null {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "Escaped":
      return part.value;
    case "DoubleQuoted": {
      const { text } = read({ type: "Word", parts: part.parts });
      return text;
    }
    case "TildeExpansion":
      return `~${part.user ?? ""}`;
    default:
      return null;
  }
}

function isLoose({ type }: Part): boolean {
  return type === "ParameterExpansion" || type === "CommandSubstitution" || type === "BraceExpansion" || type === "ArithmeticExpansion";
}
