// What a command line runs, read from its syntax tree: through quotes, pipes, substitutions, functions and here-documents,
// and through programs that run others. It finds what plain words tell; where words are made while the command runs, it
// says opaque, which is the worst that can be said.

import { type Assignment, isNode, onlyCommand, type Redirection, type Script, type Simple, type Word } from "../shell/syntax.ts";
import { hardness, STEPS_MAX } from "./hardness.ts";
import { emptiedBy, emptiedByRedirection, hasSilentInput } from "./emptied.ts";
import { isMade, readsBeyond } from "./reach.ts";
import { carrierTags, optionTags, SHELLS, STEERING, tagsOf, wrapper, type Wrapper } from "./programs.ts";
import type { Tag } from "./request.ts";
import { ADDED, isUsualProgram, type Known, known, programName } from "./words.ts";

type Pipeline = Script["statements"][number]["pipelines"][number];
export type Parse = (text: string) => Script | null;

export type Reading = {
  tags: Set<Tag>;
  /** Every word that could be a path. */
  words: Set<string>;
  /** Those that something is done to. */
  changed: Set<string>;
  /** Directories that the command goes to, against which others are to be read. */
  directories: Set<string>;
  /** Files that it leaves empty; null where that cannot be known. */
  emptied: Set<string | null>;
  /** Every word, with `*` for what of it is made while the command runs. */
  shapes: Set<string>;
  /** Whether it may read more than its words name as they are written. */
  readsBeyond: boolean;
};

/** Texts within texts, such as `sh -c "sh -c ..."`. */
const NESTING_MAX = 6;

export function readCommands(text: string, parse: Parse): Reading {
  const reader = new Reader(parse);
  reader.script(text, 0);
  return reader.reading;
}

class Reader {
  readonly reading: Reading = {
    tags: new Set(),
    words: new Set(),
    changed: new Set(),
    directories: new Set(),
    emptied: new Set(),
    shapes: new Set(),
    readsBeyond: false,
  };
  readonly #parse: Parse;
  /** Functions of the script that is read, from where they are defined for certain. */
  #functions = new Set<string>();
  /** Variables with all that the script puts into them for certain to be no option. */
  #plainVariables: ReadonlySet<string> = new Set();
  #nesting = 0;
  #depth = 0;
  #work = 0;
  #steps = 0;

  constructor(parse: Parse) {
    this.#parse = parse;
  }

  script(text: string, nesting: number): void {
    if (text.trim() === "") return;
    const tree = nesting > NESTING_MAX || !this.#mayGoOn([]) || !this.#mayParse(text) ? null : this.#parse(text);
    if (tree === null || !isPlain(tree)) this.#add("compound");
    if (tree === null) return this.#add("opaque");
    const outer = [this.#nesting, this.#functions, this.#plainVariables] as const;
    [this.#nesting, this.#functions, this.#plainVariables] = [nesting, new Set(), plainVariables(tree)];
    for (const statement of tree.statements) {
      this.#walk(statement);
      const command = onlyCommand(statement);
      if (command?.type === "FunctionDef") this.#functions.add(command.name);
    }
    [this.#nesting, this.#functions, this.#plainVariables] = outer;
  }

  /** All texts of one command together: each may hold others. */
  #mayParse(text: string): boolean {
    if (this.#steps <= STEPS_MAX) this.#steps += hardness(text);
    return this.#steps <= STEPS_MAX;
  }

  #add(...tags: readonly Tag[]): void {
    for (const tag of tags) this.reading.tags.add(tag);
  }

  #walk(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) {
      for (const child of node) this.#walk(child);
      return;
    }
    if (isNode(node)) {
      if (isMade(node)) this.reading.readsBeyond = true;
      if (isLeaf(node)) return;
      for (const path of emptiedByRedirection(node)) this.reading.emptied.add(path);
      if (node.type === "Pipeline") this.#pipeline(node as Pipeline);
      if (node.type === "SimpleCommand") this.#simple(node as Simple);
      if (node.type === "Redirection") this.#redirection(node as Redirection);
      if (node.type === "Assignment" || node.type === "For") this.#variable(node);
      // Of a variable's value too: it may become a part of a path.
      if (node.type === "Assignment" && (node as Assignment).value !== null) this.#mentions(known((node as Assignment).value!));
      if (node.type === "For") for (const word of (node as { words?: Word[] | null }).words ?? []) this.#mentions(known(word));
      if (node.type === "ArithCommandSubst") this.#text([(node as { command?: unknown }).command as string]);
      if ("deferredError" in node) this.#add("opaque");
      if (node.type === "Transform" || node.type === "Indirection") this.#add("opaque");
    }
    const members = node as Record<string, unknown>;
    for (const key in members) {
      const value = members[key];
      // Some texts in the tree are taken apart only while they run, such as an array's index.
      if (typeof value === "string") {
        if (!TEXTS.has(key) && LATER_COMMAND.test(value)) this.#add("opaque");
      } else this.#walk(value);
    }
  }

  #variable(node: { type: string; name?: unknown; variable?: unknown; body?: unknown }): void {
    const name = String(node.name ?? node.variable).replace(/\[.*$/s, "");
    // What a loop does is read by itself.
    if (STEERING.test(name) || holdsLaterCommand({ ...node, body: null })) this.#add("opaque");
  }

  #redirection({ operator, target }: Redirection): void {
    if (target.type !== "Word" || operator === "<<<") return;
    const word = known(target);
    const { text, start } = word;
    this.#mentions(word);
    if (/^\/dev\/(?:tcp|udp)\//.test(start)) this.#add("network", "connects");
    // Another descriptor, such as 2>&1.
    if (operator.endsWith("&") && text !== null && /^\d*-?$/.test(text)) return;
    if (text !== null) this.reading.words.add(text);
    if (operator === "<" || operator === "<&") return;
    this.#add("mutating");
    this.#changes(text);
  }

  /** `: | tee file` empties a file as `tee file < /dev/null` does. */
  #pipeline({ commands }: Pipeline): void {
    for (const [at, command] of commands.entries()) {
      if (command.type !== "SimpleCommand" || command.name === null || !hasSilentInput(commands, at)) continue;
      const texts = command.args.map((arg) => known(arg).text);
      for (const path of emptiedBy(programName(known(command.name).text ?? ""), texts, "")) this.reading.emptied.add(path);
    }
  }

  #simple({ name, args, redirections }: Simple): void {
    if (name === null) return;
    // A function's own commands have been read where it is defined.
    if (this.#functions.has(known(name).text ?? "")) return;
    this.#run([name, ...args].map(known), inputOf(redirections));
  }

  /** One program with its words, and the text on its standard input if that is in the script. */
  #run([first, ...args]: readonly Known[], input: string | null = null): void {
    if (first === undefined) return;
    if (!this.#mayGoOn(args)) return this.#add("opaque");
    this.#depth++;
    this.#program(first, args, input);
    this.#depth--;
  }

  /** Some programs make many commands of one. What it takes to read them all is bounded, as whoever wrote them is not to be trusted. */
  #mayGoOn(words: readonly Known[]): boolean {
    this.#work += 1 + words.length;
    for (const { start } of words) this.#work += start.length / CHARS_PER_WORK;
    return this.#work <= WORK_MAX && this.#depth < DEPTH_MAX;
  }

  #program(first: Known, args: readonly Known[], input: string | null): void {
    for (const arg of args) {
      const { text } = arg;
      this.#mentions(arg);
      if (text !== null && text !== "") this.reading.words.add(text);
    }
    if (first.text === null) return this.#add("opaque");
    const name = programName(first.text);
    if (!isUsualProgram(first.text)) this.#add("opaque");
    const texts = args.map(({ text }) => text);
    if (readsBeyond(name, texts)) this.reading.readsBeyond = true;
    if (LATER.has(name) && texts.some((text) => text !== null && LATER_COMMAND.test(text))) this.#add("opaque");
    if (SHELLS.has(name)) return this.#shell(args, input);
    if (name === "eval") return this.#text(texts);
    if (name === "trap") return texts[0] === "-" ? undefined : this.#text(texts.slice(0, 1));
    if (name === "." || name === "source") return this.#add("opaque");
    if (name === "unset") this.#functions.clear();
    if (NAMING.has(name)) this.#naming(name, args);
    if (name === "cd" || name === "pushd") this.#goes(texts);
    if (name === "find" || name === "fd") return this.#find(args);
    const wraps = wrapper(name);
    if (wraps !== undefined) return this.#wrapped(name, wraps, args);
    const carried = carrierTags(name);
    if (carried !== undefined) return this.#carried(carried, args);
    const tags = optionTags(
      name,
      texts,
      args.some((arg) => this.#mayBeOption(arg)),
    ) ??
      tagsOf(name) ?? ["opaque"];
    this.#add(...tags);
    for (const path of emptiedBy(name, texts, input)) this.reading.emptied.add(path);
    if (tags.some((tag) => CHANGING.has(tag))) for (const text of texts) this.#changes(text);
  }

  #mayBeOption({ lead }: Known): boolean {
    return lead !== null && !this.#plainVariables.has(lead);
  }

  #shell(args: readonly Known[], input: string | null): void {
    const at = args.findIndex(({ text }) => text !== null && /^[-+][a-zA-Z]*c/.test(text));
    if (at >= 0 && args.slice(0, at).every(({ text }) => text !== null && /^[-+]/.test(text))) {
      const script = args.slice(at + 1).find(({ text }) => text === null || !/^[-+]\w/.test(text));
      return this.#text([script?.text ?? null]);
    }
    const isFile = args.some(({ text }) => text === null || (!/^[-+]/.test(text) && text !== ""));
    this.#text(isFile ? [null] : [input]);
  }

  /** A command line in a word. */
  #text(texts: readonly (string | null)[]): void {
    if (texts.includes(null)) this.#add("opaque");
    this.script(texts.map((text) => text ?? "").join(" "), this.#nesting + 1);
  }

  #wrapped(name: string, { flags, valued, long = /^$/, operands = 0 }: Wrapper, args: readonly Known[]): void {
    let at = 0;
    let replaced = "";
    for (; at < args.length; at++) {
      const { text, start } = args[at]!;
      if (name === "env" && /^\w+=/.test(start)) {
        if (STEERING.test(start.slice(0, start.indexOf("=")))) this.#add("opaque");
        continue;
      }
      if (text === null) return this.#carried(["opaque"], args);
      if (text === "--" || (text === "-" && name === "env") || long.test(text)) continue;
      if (!text.startsWith("-")) break;
      // It only tells where the program is.
      if (name === "command" && /^-[pvV]*[vV]$/.test(text)) return;
      const value = text.split("").findIndex((letter, place) => place > 0 && !flags.includes(letter));
      if (value === -1) continue;
      if (!valued.includes(text[value]!)) return this.#carried(["opaque"], args);
      const isNext = value + 1 === text.length;
      if (text[value] === "I") replaced = isNext ? (args[at + 1]?.text ?? "") : text.slice(value + 1);
      if (text[value] === "C") this.#add("unknown-path");
      if (isNext) at++;
    }
    const rest = args.slice(at + operands);
    if (name === "xargs") return this.#added(rest, replaced);
    // By itself it shows the environment.
    if (name === "env" && rest.length === 0) this.reading.readsBeyond = true;
    this.#run(rest);
  }

  /** What xargs adds to the words, or puts in the place of a part of them, is not known. */
  #added([first, ...rest]: readonly Known[], replaced: string): void {
    if (first === undefined) return;
    if (replaced === "") return this.#run([first, ...rest, ADDED]);
    const isIn = ({ text }: Known): boolean => text === null || text.includes(replaced);
    if (isIn(first)) return this.#add("opaque");
    // Within a command line it can be a command.
    if (rest.some((word) => isIn(word) && /\s/.test(word.text ?? ""))) this.#add("opaque");
    this.#run([first, ...rest.map((word) => (word.text === replaced ? ADDED : word))]);
  }

  /** Which of the words is the command is not known, so every one of them is tried, and texts that could be one are read. */
  #carried(tags: readonly Tag[], args: readonly Known[]): void {
    this.#add("opaque", ...tags);
    for (const [at, { text }] of args.slice(0, CARRIED_MAX).entries()) {
      if (text === null) continue;
      const name = programName(text);
      if (/\s/.test(text.trim())) this.#text([text]);
      else if (tagsOf(name)?.length || SHELLS.has(name)) this.#run(args.slice(at));
    }
  }

  #find(args: readonly Known[]): void {
    const tops = args.slice(0, args.findIndex(({ start }) => /^[-(!]/.test(start)) >>> 0);
    // What is done to a place is done to all below it.
    if (args.some(({ text }) => text === "-delete" || isFindRun(text))) for (const top of tops) this.#changes(top.text);
    for (const [at, arg] of args.entries()) {
      const { text } = arg;
      if (this.#mayBeOption(arg) && !/^-(?:i?name|i?path|newer|mtime|mmin|size|user|maxdepth|mindepth)$/.test(args[at - 1]?.text ?? ""))
        this.#add("opaque");
      if (text === "-delete") this.#add("deletes", "destructive", "mutating");
      if (text !== null && /^-f(?:print|ls)/.test(text)) this.#add("mutating", "unknown-path");
      if (!isFindRun(text)) continue;
      const rest = args.slice(at + 1);
      if (!this.#mayGoOn(rest)) return this.#add("opaque");
      const end = rest.findIndex(({ text }) => text === ";" || text === "+");
      this.#added(rest.slice(0, end === -1 ? undefined : end), "{}");
    }
  }

  /** Names that get a new meaning. */
  #naming(name: string, args: readonly Known[]): void {
    if (name === "printf" && !args[0]?.start.startsWith("-v")) return;
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

  #mentions({ shapes }: Known): void {
    for (const shape of shapes) this.reading.shapes.add(shape);
  }

  #changes(text: string | null): void {
    if (text === null) return this.#add("unknown-path");
    // dd of=path, --output=path
    for (const path of [text, text.slice(text.indexOf("=") + 1)]) if (path !== "") this.reading.changed.add(path);
  }
}

const WORK_MAX = 10_000;
const CHARS_PER_WORK = 50;
const DEPTH_MAX = 32;
const CARRIED_MAX = 16;
const TEXTS = new Set(["value", "sourceText", "originalText", "command", "type", "delimiter", "message", "token"]);
const LATER_COMMAND = /\$\(|`/;
const NAMING = new Set("alias export declare typeset local readonly read mapfile readarray hash enable bind complete printf".split(" "));
/** What they are given is taken apart as a sum or a variable's name, and commands in it run. */
const LATER = new Set("test [ let unset export declare typeset local readonly read mapfile readarray printf".split(" "));
const CHANGING: ReadonlySet<Tag> = new Set<Tag>(["mutating", "destructive", "deletes", "opaque"]);

/** Most nodes of most trees, and nothing is in them but their text. */
function isLeaf({ type }: { type: string }): boolean {
  return type === "Literal" || type === "SingleQuoted" || type === "Escaped";
}

function isFindRun(text: string | null): boolean {
  return text !== null && /^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(text);
}

/** A quoted text with a command in it, kept for later. */
function holdsLaterCommand(node: unknown): boolean {
  if (typeof node !== "object" || node === null) return false;
  const { type, value } = node as { type?: unknown; value?: unknown };
  if ((type === "SingleQuoted" || type === "Escaped" || type === "Literal") && typeof value === "string" && LATER_COMMAND.test(value))
    return true;
  return type !== "CommandSubstitution" && Object.values(node).some(holdsLaterCommand);
}

/** Of the redirections of standard input the last one counts; null where it is none that is written here. */
function inputOf(redirections: readonly Redirection[]): string | null {
  const last = redirections.findLast(({ operator, fd }) => operator.startsWith("<") && (fd === null || fd === 0));
  if (last === undefined) return null;
  const { operator, target } = last;
  if (target.type === "HereDoc") return known(target.content).text;
  if (operator === "<" && known(target).text === "/dev/null") return "";
  return operator === "<<<" ? known(target).text : null;
}

/** By all that the script itself puts into them; the rest of the environment may hold anything. */
function plainVariables(tree: Script): ReadonlySet<string> {
  const plain = new Set(["HOME", "PWD", "USER", "UID", "HOSTNAME"]);
  const others = new Set<string>();
  const put = (name: string, isPlain: boolean): unknown => (isPlain ? plain : others).add(name.replace(/[[+].*$/s, ""));
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null || (isNode(node) && isLeaf(node))) return;
    const { type } = node as { type?: unknown };
    if (type === "Assignment") {
      const { name, value, append, array } = node as Assignment;
      put(name, !append && array === null && value !== null && /^[^\s-]\S*$/.test(known(value).text ?? ""));
    }
    if (type === "For") {
      const { variable, words } = node as { variable: string; words: Word[] | null };
      put(variable, words !== null && words.map(known).every(({ text, start, lead }) => lead === null && /^(?!-)\S*$/.test(text ?? start)));
    }
    // `read x`, `printf -v x`, `local x=...` and the like.
    if (type === "SimpleCommand" && (node as Simple).name !== null && NAMING.has(programName(known((node as Simple).name!).text ?? "")))
      for (const arg of (node as Simple).args) put(/^\w*/.exec(known(arg).start)![0], false);
    if (Array.isArray(node)) for (const child of node) visit(child);
    else for (const key in node) visit((node as Record<string, unknown>)[key]);
  };
  visit(tree);
  return new Set([...plain].filter((name) => !others.has(name)));
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
