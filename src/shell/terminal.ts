// Ties a script to its session's terminal. just-bash takes all input before a script begins and hands out all output
// when it has ended; a person or an agent at the other end wants neither. So before it runs, each statement whose output
// would reach the terminal is told to write there itself, and each `read` that would wait for somebody asks there.
// Whatever is inside a pipe, a redirection or a function is left alone: its input and output are its caller's.

import type { Bash } from "just-bash/browser";

export const TERMINAL = "/dev/tty";
/** Where a script's errors go, which have no name of their own on a machine. */
export const TERMINAL_ERRORS = "/dev/tty/errors";

type Plugin = Parameters<Bash["registerTransformPlugin"]>[0];
type Script = Parameters<Plugin["transform"]>[0]["ast"];
type Statement = Script["statements"][number];
type Command = Statement["pipelines"][number]["commands"][number];
type Simple = Extract<Command, { type: "SimpleCommand" }>;
type Word = Simple["args"][number];
type Redirection = Simple["redirections"][number];

/** Whether standard input and output are still the terminal at this place. */
type Place = { input: boolean; output: boolean };

/** They change the shell itself, so they must not stand in a group of their own. */
const BARE = new Set(["exec", "exit", "return", "break", "continue", "logout"]);

export const onTerminal: Plugin = {
  name: "gsv-terminal",
  transform: ({ ast }) => ({ ast: { ...ast, statements: script(ast.statements) } }),
};

/** What a last simple statement puts out is handed over at once in any case. */
function script(statements: readonly Statement[]): Statement[] {
  const last = statements.at(-1);
  const isPlain = last !== undefined && compoundOf(last) === null;
  const before = block(isPlain ? statements.slice(0, -1) : statements, { input: true, output: true });
  return isPlain ? [...before, ...block([last], { input: true, output: false })] : before;
}

function block(statements: readonly Statement[], place: Place): Statement[] {
  return statements.flatMap((item) => (place.input || place.output ? statement(item, place) : [item]));
}

function statement(item: Statement, place: Place): Statement[] {
  if (item.background || item.deferredError !== undefined) return [item];
  const compound = compoundOf(item);
  const [first] = item.pipelines;
  if (compound !== null && first !== undefined) {
    const within = inside(compound, place);
    return [{ ...item, pipelines: [{ ...first, commands: [within] }] }];
  }
  const pipelines = item.pipelines.map((pipeline) => {
    const [head, ...rest] = pipeline.commands;
    return head === undefined ? pipeline : { ...pipeline, commands: [inside(head, { input: place.input, output: false }), ...rest] };
  });
  const changed = { ...item, pipelines };
  const prompt = place.input ? promptOf(item) : null;
  const asked = prompt === null ? [] : [grouped(say(prompt), true)];
  return [...asked, place.output && !isBare(item) ? grouped(changed, true) : changed];
}

/** A compound command that stands alone: what is inside writes by itself. */
function compoundOf({ pipelines }: Statement): Command | null {
  const [pipeline, ...others] = pipelines;
  const [command, ...piped] = pipeline?.commands ?? [];
  if (command === undefined || others.length > 0 || piped.length > 0 || pipeline?.negated || pipeline?.timed) return null;
  const isCompound = ["If", "For", "CStyleFor", "While", "Until", "Case", "Group"].includes(command.type);
  return isCompound ? command : null;
}

function inside(command: Command, outer: Place): Command {
  if (command.type === "FunctionDef") return command;
  const place = narrowed(outer, command.redirections);
  switch (command.type) {
    case "SimpleCommand":
      return place.input && nameOf(command) === "read"
        ? { ...command, redirections: [...command.redirections, toFile("<", 0, TERMINAL)] }
        : command;
    case "If":
      return {
        ...command,
        clauses: command.clauses.map(({ condition, body }) => ({ condition: block(condition, place), body: block(body, place) })),
        elseBody: command.elseBody && block(command.elseBody, place),
      };
    case "While":
    case "Until":
      return { ...command, condition: block(command.condition, place), body: block(command.body, place) };
    case "For":
    case "CStyleFor":
    case "Group":
    case "Subshell":
      return { ...command, body: block(command.body, place) };
    case "Case":
      return { ...command, items: command.items.map((item) => ({ ...item, body: block(item.body, place) })) };
    default:
      return command;
  }
}

function narrowed(place: Place, redirections: readonly Redirection[]): Place {
  const isInput = ({ operator, fd }: Redirection) => operator.startsWith("<") && (fd ?? 0) === 0;
  return {
    input: place.input && !redirections.some(isInput),
    output: place.output && redirections.every(isInput),
  };
}

/** Without its own errors: only the text is for the terminal. */
function grouped(item: Statement, withErrors: boolean): Statement {
  const redirections = [toFile(">|", 1, TERMINAL), ...(withErrors ? [toFile(">|", 2, TERMINAL_ERRORS)] : [])];
  return {
    type: "Statement",
    pipelines: [{ type: "Pipeline", commands: [{ type: "Group", body: [item], redirections }], negated: false }],
    operators: [],
    background: false,
  };
}

function toFile(operator: Redirection["operator"], fd: number, path: string): Redirection {
  return { type: "Redirection", fd, operator, target: literal(path) };
}

function literal(value: string): Word {
  return { type: "Word", parts: [{ type: "Literal", value }] };
}

function isBare(item: Statement): boolean {
  const command = item.pipelines[0]?.commands[0];
  return command?.type === "FunctionDef" || (command?.type === "SimpleCommand" && (BARE.has(nameOf(command)) || command.name === null));
}

/** The question of a `read -p`, which has to be seen before it is answered. */
function promptOf(item: Statement): Word | null {
  const [command] = item.pipelines[0]?.commands ?? [];
  if (command?.type !== "SimpleCommand" || nameOf(command) !== "read" || command.redirections.length > 0) return null;
  const at = command.args.findIndex((word) => /^-[a-z]*p$/.test(textOf(word)));
  return at === -1 ? null : (command.args[at + 1] ?? null);
}

function say(text: Word): Statement {
  const command: Simple = {
    type: "SimpleCommand",
    assignments: [],
    name: literal("printf"),
    args: [literal("%s"), text],
    redirections: [toFile(">&", 1, "2")],
  };
  return { type: "Statement", pipelines: [{ type: "Pipeline", commands: [command], negated: false }], operators: [], background: false };
}

function nameOf({ name }: Simple): string {
  return name === null ? "" : textOf(name);
}

function textOf({ parts }: Word): string {
  return parts.length === 1 && parts[0]?.type === "Literal" ? parts[0].value : "";
}
