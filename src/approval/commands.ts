// Finds out what a command line runs from its syntax tree: through quotes, pipes, substitutions, functions and here-documents,
// and through programs that run other programs. Literal words tell what a command does. A word that is computed while the command
// runs makes the command opaque, the strictest verdict.

import { type Assignment, isNode, onlyCommand, type Redirection, type Script, type SimpleCommand, type Word } from "../shell/syntax.ts";
import { countParseSteps, STEPS_MAX } from "./hardness.ts";
import { filesEmptiedBy, filesEmptiedByRedirection, hasSilentInput } from "./emptied.ts";
import { pathsInWord } from "./paths.ts";
import { isComputedPart, readsUnnamedFiles } from "./reach.ts";
import { carrierTags, optionTags, SHELLS, STEERING, programTags, findWrapper, type Wrapper } from "./programs.ts";
import type { Tag } from "./request.ts";
import { holdsSubstitution, isLeaf, isPlainCommand, NAMING, plainVariables, stdinText, SUBSTITUTION } from "./script-tree.ts";
import { ADDED, isUsualProgram, type KnownWord, readWord, programName } from "./words.ts";

type Pipeline = Script["statements"][number]["pipelines"][number];
export type ScriptParser = (text: string) => Script | null;

export type CommandReading = {
  tags: Set<Tag>;
  /** Every word that could be a path. */
  words: Set<string>;
  /** The words among them that the command changes. */
  changedPaths: Set<string>;
  /** Directories that the command changes to; relative paths are resolved against each of them. */
  directories: Set<string>;
  /** Files that the command empties; null for one whose name is not known. */
  emptiedFiles: Set<string | null>;
  /** Every word, with `*` for the parts computed while the command runs. */
  wordPatterns: Set<string>;
  /** Whether the command may read more than its words literally name. */
  readsUnnamedFiles: boolean;
};

/** How deep command lines may nest, such as `sh -c "sh -c ..."`. */
const NESTING_MAX = 6;

export function readCommands(text: string, parse: ScriptParser): CommandReading {
  const reader = new Reader(parse);
  reader.readScript(text, 0);
  return reader.reading;
}

class Reader {
  readonly reading: CommandReading = {
    tags: new Set(),
    words: new Set(),
    changedPaths: new Set(),
    directories: new Set(),
    emptiedFiles: new Set(),
    wordPatterns: new Set(),
    readsUnnamedFiles: false,
  };
  readonly #parse: ScriptParser;
  /** Functions of the present script that are certain to be defined at this point. */
  #functions = new Set<string>();
  /** Variables whose value cannot be an option, judging by every assignment in the script. */
  #plainVariables: ReadonlySet<string> = new Set();
  #nesting = 0;
  #depth = 0;
  #work = 0;
  #steps = 0;

  constructor(parse: ScriptParser) {
    this.#parse = parse;
  }

  readScript(text: string, nesting: number): void {
    if (text.trim() === "") return;
    const tree = nesting > NESTING_MAX || !this.#tryAddWork([]) || !this.#tryAddParseWork(text) ? null : this.#parse(text);
    if (tree === null || !isPlainCommand(tree)) this.#addTags("compound");
    if (tree === null) return this.#addTags("opaque");
    const outer = [this.#nesting, this.#functions, this.#plainVariables] as const;
    [this.#nesting, this.#functions, this.#plainVariables] = [nesting, new Set(), plainVariables(tree)];
    for (const statement of tree.statements) {
      this.#walk(statement);
      const command = onlyCommand(statement);
      if (command?.type === "FunctionDef") this.#functions.add(command.name);
    }
    [this.#nesting, this.#functions, this.#plainVariables] = outer;
  }

  /** The budget covers all texts of one command, because each may contain others. */
  #tryAddParseWork(text: string): boolean {
    if (this.#steps <= STEPS_MAX) this.#steps += countParseSteps(text);
    return this.#steps <= STEPS_MAX;
  }

  #addTags(...tags: readonly Tag[]): void {
    for (const tag of tags) this.reading.tags.add(tag);
  }

  #walk(node: unknown): void {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) {
      for (const child of node) this.#walk(child);
      return;
    }
    if (isNode(node)) {
      if (isComputedPart(node)) this.reading.readsUnnamedFiles = true;
      if (isLeaf(node)) return;
      for (const path of filesEmptiedByRedirection(node)) this.reading.emptiedFiles.add(path);
      if (node.type === "Pipeline") this.#readPipeline(node as Pipeline);
      if (node.type === "SimpleCommand") this.#readSimpleCommand(node as SimpleCommand);
      if (node.type === "Redirection") this.#readRedirection(node as Redirection);
      if (node.type === "Assignment" || node.type === "For") this.#readVariable(node);
      // A variable's value is recorded too: it may become part of a path.
      if (node.type === "Assignment" && (node as Assignment).value !== null) this.#addWordPatterns(readWord((node as Assignment).value!));
      if (node.type === "For") for (const word of (node as { words?: Word[] | null }).words ?? []) this.#addWordPatterns(readWord(word));
      if (node.type === "ArithCommandSubst") this.#readCommandLine([(node as { command?: unknown }).command as string]);
      if ("deferredError" in node) this.#addTags("opaque");
      if (node.type === "Transform" || node.type === "Indirection") this.#addTags("opaque");
    }
    const members = node as Record<string, unknown>;
    for (const key in members) {
      const value = members[key];
      // Bash evaluates some strings of the tree only at run time, such as an array index.
      if (typeof value === "string") {
        if (!TEXT_KEYS.has(key) && SUBSTITUTION.test(value)) this.#addTags("opaque");
      } else this.#walk(value);
    }
  }

  #readVariable(node: { type: string; name?: unknown; variable?: unknown; body?: unknown }): void {
    const name = String(node.name ?? node.variable).replace(/\[.*$/s, "");
    // The loop's body is walked separately.
    if (STEERING.test(name) || holdsSubstitution({ ...node, body: null })) this.#addTags("opaque");
  }

  #readRedirection({ operator, target }: Redirection): void {
    if (target.type !== "Word" || operator === "<<<") return;
    const word = readWord(target);
    const { text, start } = word;
    this.#addWordPatterns(word);
    // What is written there is gone.
    if (text === "/dev/null") return;
    if (/^\/dev\/(?:tcp|udp)\//.test(start)) this.#addTags("network", "connects");
    // A file descriptor, such as in 2>&1.
    if (operator.endsWith("&") && text !== null && /^\d*-?$/.test(text)) return;
    if (text !== null) this.reading.words.add(text);
    if (operator === "<" || operator === "<&") return;
    this.#addTags("mutating");
    this.#addChangedPath(text);
  }

  /** `: | tee file` empties a file as `tee file < /dev/null` does. */
  #readPipeline({ commands }: Pipeline): void {
    for (const [at, command] of commands.entries()) {
      if (command.type !== "SimpleCommand" || command.name === null || !hasSilentInput(commands, at)) continue;
      const texts = command.args.map((arg) => readWord(arg).text);
      for (const path of filesEmptiedBy(programName(readWord(command.name).text ?? ""), texts, "")) this.reading.emptiedFiles.add(path);
    }
  }

  #readSimpleCommand({ name, args, redirections }: SimpleCommand): void {
    if (name === null) return;
    // The function's commands were read at its definition.
    if (this.#functions.has(readWord(name).text ?? "")) return;
    this.#readCommand([name, ...args].map(readWord), stdinText(redirections));
  }

  /** Reads one program with its arguments, and the text on its standard input if the script contains it. */
  #readCommand([first, ...args]: readonly KnownWord[], input: string | null = null): void {
    if (first === undefined) return;
    if (!this.#tryAddWork(args)) return this.#addTags("opaque");
    this.#depth++;
    this.#readProgram(first, args, input);
    this.#depth--;
  }

  /** Some programs turn one command into many. The author is untrusted, so the work to read them all is bounded. */
  #tryAddWork(words: readonly KnownWord[]): boolean {
    this.#work += 1 + words.length;
    for (const { start } of words) this.#work += start.length / CHARS_PER_WORK;
    return this.#work <= WORK_MAX && this.#depth < DEPTH_MAX;
  }

  #readProgram(first: KnownWord, args: readonly KnownWord[], input: string | null): void {
    for (const arg of args) {
      const { text } = arg;
      this.#addWordPatterns(arg);
      if (text !== null && text !== "") this.reading.words.add(text);
    }
    if (first.text === null) return this.#addTags("opaque");
    const name = programName(first.text);
    if (!isUsualProgram(first.text)) this.#addTags("opaque");
    const texts = args.map(({ text }) => text);
    if (readsUnnamedFiles(name, texts)) this.reading.readsUnnamedFiles = true;
    if (EVALUATING.has(name) && texts.some((text) => text !== null && SUBSTITUTION.test(text))) this.#addTags("opaque");
    if (SHELLS.has(name)) return this.#readShell(args, input);
    if (name === "eval") return this.#readCommandLine(texts);
    if (name === "trap") return texts[0] === "-" ? undefined : this.#readCommandLine(texts.slice(0, 1));
    if (name === "." || name === "source") return this.#addTags("opaque");
    if (name === "unset") this.#functions.clear();
    if (NAMING.has(name)) this.#readNameDefinition(name, args);
    if (name === "cd" || name === "pushd") this.#addDirectory(texts);
    if (name === "find" || name === "fd") return this.#readFind(args);
    const wrapping = findWrapper(name);
    if (wrapping !== undefined) return this.#readWrappedCommand(name, wrapping, args);
    const carrier = carrierTags(name, args.length > 0);
    if (carrier !== undefined) return this.#tryEachWord(carrier, args);
    const tags = optionTags(
      name,
      texts,
      args.some((arg) => this.#mayBeOption(arg)),
    ) ??
      programTags(name) ?? ["opaque"];
    this.#addTags(...tags);
    for (const path of filesEmptiedBy(name, texts, input)) this.reading.emptiedFiles.add(path);
    if (tags.some((tag) => CHANGING.has(tag))) for (const text of texts) this.#addChangedPath(text);
  }

  #mayBeOption({ lead }: KnownWord): boolean {
    return lead !== null && !this.#plainVariables.has(lead);
  }

  #readShell(args: readonly KnownWord[], input: string | null): void {
    const at = args.findIndex(({ text }) => text !== null && /^[-+][a-zA-Z]*c/.test(text));
    if (at >= 0 && args.slice(0, at).every(({ text }) => text !== null && /^[-+]/.test(text))) {
      const script = args.slice(at + 1).find(({ text }) => text === null || !/^[-+]\w/.test(text));
      return this.#readCommandLine([script?.text ?? null]);
    }
    const isFile = args.some(({ text }) => text === null || (!/^[-+]/.test(text) && text !== ""));
    this.#readCommandLine(isFile ? [null] : [input]);
  }

  /** Reads a command line that is given as words. */
  #readCommandLine(texts: readonly (string | null)[]): void {
    if (texts.includes(null)) this.#addTags("opaque");
    this.readScript(texts.map((text) => text ?? "").join(" "), this.#nesting + 1);
  }

  #readWrappedCommand(name: string, { flags, valued, long = /^$/, operands = 0, writes }: Wrapper, args: readonly KnownWord[]): void {
    let at = 0;
    let placeholder = "";
    for (; at < args.length; at++) {
      const { text, start } = args[at]!;
      if (name === "env" && /^\w+=/.test(start)) {
        if (STEERING.test(start.slice(0, start.indexOf("=")))) this.#addTags("opaque");
        continue;
      }
      if (text === null) return this.#tryEachWord(["opaque"], args);
      if (text === "--" || (text === "-" && name === "env") || long.test(text)) continue;
      if (!text.startsWith("-")) break;
      // It only prints where the program is.
      if (name === "command" && /^-[pvV]*[vV]$/.test(text)) return;
      const value = text.split("").findIndex((letter, place) => place > 0 && !flags.includes(letter));
      if (value === -1) continue;
      if (!valued.includes(text[value]!)) return this.#tryEachWord(["opaque"], args);
      const isNext = value + 1 === text.length;
      if (text[value] === "I") placeholder = isNext ? (args[at + 1]?.text ?? "") : text.slice(value + 1);
      if (text[value] === "C") this.#addTags("unknown-path");
      if (text[value] === writes) {
        this.#addTags("mutating");
        this.#addChangedPath(isNext ? (args[at + 1]?.text ?? null) : text.slice(value + 1));
      }
      if (isNext) at++;
    }
    const rest = args.slice(at + operands);
    if (name === "xargs") return this.#readXargsCommand(rest, placeholder);
    // Without a command, env prints the environment.
    if (name === "env" && rest.length === 0) this.reading.readsUnnamedFiles = true;
    this.#readCommand(rest);
  }

  /** xargs appends words, or substitutes a part of them, that are not known. */
  #readXargsCommand([first, ...rest]: readonly KnownWord[], placeholder: string): void {
    if (first === undefined) return;
    if (placeholder === "") return this.#readCommand([first, ...rest, ADDED]);
    const holdsPlaceholder = ({ text }: KnownWord): boolean => text === null || text.includes(placeholder);
    if (holdsPlaceholder(first)) return this.#addTags("opaque");
    // Inside a command line the substituted text can be a command.
    if (rest.some((word) => holdsPlaceholder(word) && /\s/.test(word.text ?? ""))) this.#addTags("opaque");
    this.#readCommand([first, ...rest.map((word) => (word.text === placeholder ? ADDED : word))]);
  }

  /** It is not known which word is the command, so each is tried, and words that could be a command line are read as one. */
  #tryEachWord(tags: readonly Tag[], args: readonly KnownWord[]): void {
    this.#addTags("opaque", ...tags);
    for (const [at, { text }] of args.slice(0, CARRIED_MAX).entries()) {
      if (text === null) continue;
      const name = programName(text);
      if (/\s/.test(text.trim())) this.#readCommandLine([text]);
      else if (programTags(name)?.length || SHELLS.has(name)) this.#readCommand(args.slice(at));
    }
  }

  #readFind(args: readonly KnownWord[]): void {
    const tops = args.slice(0, args.findIndex(({ start }) => /^[-(!]/.test(start)) >>> 0);
    // A change to a directory changes everything below it.
    if (args.some(({ text }) => text === "-delete" || isFindExec(text))) for (const top of tops) this.#addChangedPath(top.text);
    for (const [at, arg] of args.entries()) {
      const { text } = arg;
      if (this.#mayBeOption(arg) && !/^-(?:i?name|i?path|newer|mtime|mmin|size|user|maxdepth|mindepth)$/.test(args[at - 1]?.text ?? ""))
        this.#addTags("opaque");
      if (text === "-delete") this.#addTags("deletes", "destructive", "mutating");
      if (text !== null && /^-f(?:print|ls)/.test(text)) this.#addTags("mutating", "unknown-path");
      if (!isFindExec(text)) continue;
      const rest = args.slice(at + 1);
      if (!this.#tryAddWork(rest)) return this.#addTags("opaque");
      const end = rest.findIndex(({ text }) => text === ";" || text === "+");
      this.#readXargsCommand(rest.slice(0, end === -1 ? undefined : end), "{}");
    }
  }

  /** Reads commands that give names a new meaning. */
  #readNameDefinition(name: string, args: readonly KnownWord[]): void {
    if (name === "printf" && !args[0]?.start.startsWith("-v")) return;
    if (name === "alias" && args.some(({ text }) => text === null || text.includes("="))) return this.#addTags("opaque");
    if (name === "hash" || name === "enable" || name === "bind" || name === "complete") return this.#addTags("opaque");
    for (const { start, text } of args) {
      const variable = /^(\w+)(?:=|\+=|\[|$)/.exec(start)?.[1];
      if (variable === undefined ? text === null : STEERING.test(variable)) this.#addTags("opaque");
    }
  }

  #addDirectory(texts: readonly (string | null)[]): void {
    const to = texts.find((text) => text === null || !/^-[LPe@]+$/.test(text));
    if (to === null || to === "-") this.#addTags("unknown-path");
    else this.reading.directories.add(to ?? "~");
  }

  #addWordPatterns({ shapes }: KnownWord): void {
    for (const shape of shapes) this.reading.wordPatterns.add(shape);
  }

  #addChangedPath(text: string | null): void {
    if (text === null) return this.#addTags("unknown-path");
    for (const path of pathsInWord(text)) this.reading.changedPaths.add(path);
  }
}

const WORK_MAX = 10_000;
const CHARS_PER_WORK = 50;
const DEPTH_MAX = 32;
const CARRIED_MAX = 16;
const TEXT_KEYS = new Set(["value", "sourceText", "originalText", "command", "type", "delimiter", "message", "token"]);
/** Programs that evaluate their arguments as arithmetic or variable names, and run commands inside them. */
const EVALUATING = new Set("test [ let unset export declare typeset local readonly read mapfile readarray printf".split(" "));
const CHANGING: ReadonlySet<Tag> = new Set<Tag>(["mutating", "destructive", "deletes", "opaque"]);

function isFindExec(text: string | null): boolean {
  return text !== null && /^-(?:exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(text);
}
