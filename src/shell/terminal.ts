// Ties a script to its session's terminal. just-bash takes all input before a script begins and hands out all output
// when it has ended; a person or an agent at the other end wants neither. So before it runs, each statement whose output
// would reach the terminal is told to write there itself, and each `read` that would wait for somebody asks there.
// Whatever is inside a pipe, a redirection, a function or a shell of its own is left alone: its input and output are its
// caller's.

import {
  holds,
  literal,
  nameOf,
  onlyCommand,
  type Command,
  type Plugin,
  type Redirection,
  simple,
  type Statement,
  statement as only,
  textOf,
  type Word,
} from "./syntax.ts";

export const TERMINAL = "/dev/tty";
/** Where a script's errors go, which have no name of their own on a machine. */
export const TERMINAL_ERRORS = "/dev/tty/errors";

/** Whether standard input and output are still the terminal at this place. */
type Place = { input: boolean; output: boolean };

/** They change the shell itself, or where it writes from then on. */
const BARE = new Set(["exec", "exit", "return", "break", "continue", "logout"]);

/** For one command: the first script it sees is the one at the terminal, the others are run by that. */
export function onTerminal(): Plugin {
  let isInner = false;
  return {
    name: "gsv-terminal",
    transform: ({ ast }) => {
      if (isInner) return { ast };
      isInner = true;
      return { ast: { ...ast, statements: script(ast.statements) } };
    },
  };
}

/** What a last simple statement puts out is handed over at once in any case. */
function script(statements: readonly Statement[]): Statement[] {
  const last = statements.at(-1);
  const isPlain = last !== undefined && compoundOf(last) === null;
  const output = !holds(statements, redirects);
  const before = block(isPlain ? statements.slice(0, -1) : statements, { input: true, output });
  return isPlain ? [...before, ...block([last], { input: true, output: false })] : before;
}

/** After `exec > file` everything goes there. */
function redirects(node: { type: string }): boolean {
  const command = node as Command;
  if (command.type !== "SimpleCommand" || nameOf(command) !== "exec" || command.args.length > 0) return false;
  return command.redirections.some(({ operator, fd }) => operator.includes(">") && (fd === null || fd < 3));
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
  const pipelines = item.pipelines.map((pipeline) => ({
    ...pipeline,
    commands: pipeline.commands.map((command, at, { length }) => {
      const within = at === 0 ? inside(command, { input: place.input, output: false }) : command;
      if (!place.output || isBare(within)) return within;
      return { ...within, redirections: [...shown(at === length - 1, pipeline.pipeStderr?.[at] !== true), ...within.redirections] };
    }),
  }));
  const changed = { ...item, pipelines };
  const prompt = place.input ? promptOf(item) : null;
  return prompt === null ? [changed] : [say(prompt), changed];
}

/** On each command by itself: in a group just-bash swallows what is to end a script (`set -u`). */
function shown(output: boolean, errors: boolean): Redirection[] {
  return [...(output ? [toFile(">|", 1, TERMINAL)] : []), ...(errors ? [toFile(">|", 2, TERMINAL_ERRORS)] : [])];
}

const COMPOUND = new Set(["If", "For", "CStyleFor", "While", "Until", "Case", "Group"]);

/** A compound command that stands alone: what is inside writes by itself. */
function compoundOf(item: Statement): Command | null {
  const command = onlyCommand(item);
  return command !== null && COMPOUND.has(command.type) ? command : null;
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

function toFile(operator: Redirection["operator"], fd: number, path: string): Redirection {
  return { type: "Redirection", fd, operator, target: literal(path) };
}

function isBare(command: Command): boolean {
  return command.type === "FunctionDef" || (command.type === "SimpleCommand" && (BARE.has(nameOf(command)) || command.name === null));
}

/** The question of a `read -p`, which has to be seen before it is answered. */
function promptOf(item: Statement): Word | null {
  const [command] = item.pipelines[0]?.commands ?? [];
  if (command?.type !== "SimpleCommand" || nameOf(command) !== "read" || command.redirections.length > 0) return null;
  const at = command.args.findIndex((word) => /^-[a-z]*p$/.test(textOf(word)));
  return at === -1 ? null : (command.args[at + 1] ?? null);
}

function say(text: Word): Statement {
  return only({ ...simple("printf", literal("%s"), text), redirections: [toFile(">|", 1, TERMINAL_ERRORS)] });
}
