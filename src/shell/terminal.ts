// Connects a script to its session's terminal. just-bash takes all input before a script starts and returns all output when it
// has ended, which is no use in a session. So each statement whose output would reach the terminal is rewritten to write there
// directly, and each `read` from the terminal reads there. Commands inside a pipe, a redirection, a function or a shell of
// their own stay as they are: their input and output belong to their caller.

import {
  containsNode,
  makeLiteral,
  commandNameOf,
  onlyCommand,
  type Command,
  type Plugin,
  type Redirection,
  makeSimpleCommand,
  type Statement,
  makeStatement,
  literalTextOf,
  type Word,
} from "./syntax.ts";

export const TERMINAL = "/dev/tty";
/** The terminal as standard error, for which Linux has no separate path. */
export const TERMINAL_ERRORS = "/dev/tty/errors";

/** Whether standard input and output are still the terminal. */
type Streams = { input: boolean; output: boolean };

/** These get no redirection: they change the shell itself, or where it writes from then on. */
const SHELL_COMMANDS = new Set(["exec", "exit", "return", "break", "continue", "logout"]);

/** One plugin per command line: the first script that it transforms is at the terminal, and runs the others. */
export function makeTerminalPlugin(): Plugin {
  let isInner = false;
  return {
    name: "gsv-terminal",
    transform: ({ ast }) => {
      if (isInner) return { ast };
      isInner = true;
      return { ast: { ...ast, statements: rewriteScript(ast.statements) } };
    },
  };
}

/** The output of a last simple statement is returned right away in any case, so that statement is not redirected. */
function rewriteScript(statements: readonly Statement[]): Statement[] {
  const last = statements.at(-1);
  const isPlain = last !== undefined && compoundCommandOf(last) === null;
  const output = !containsNode(statements, isExecOutputRedirect);
  const before = rewriteBlock(isPlain ? statements.slice(0, -1) : statements, { input: true, output });
  return isPlain ? [...before, ...rewriteBlock([last], { input: true, output: false })] : before;
}

/** Whether this is `exec > file`, after which all output goes to the file. */
function isExecOutputRedirect(node: { type: string }): boolean {
  const command = node as Command;
  if (command.type !== "SimpleCommand" || commandNameOf(command) !== "exec" || command.args.length > 0) return false;
  return command.redirections.some(({ operator, fd }) => operator.includes(">") && (fd === null || fd < 3));
}

function rewriteBlock(statements: readonly Statement[], streams: Streams): Statement[] {
  return statements.flatMap((item) => (streams.input || streams.output ? rewriteStatement(item, streams) : [item]));
}

function rewriteStatement(item: Statement, streams: Streams): Statement[] {
  if (item.background || item.deferredError !== undefined) return [item];
  const compound = compoundCommandOf(item);
  const [first] = item.pipelines;
  if (compound !== null && first !== undefined) {
    const rewritten = rewriteCommand(compound, streams);
    return [{ ...item, pipelines: [{ ...first, commands: [rewritten] }] }];
  }
  const pipelines = item.pipelines.map((pipeline) => ({
    ...pipeline,
    commands: pipeline.commands.map((command, at, { length }) => {
      const rewritten = at === 0 ? rewriteCommand(command, { input: streams.input, output: false }) : command;
      if (!streams.output || changesShell(rewritten)) return rewritten;
      return {
        ...rewritten,
        redirections: [...makeTerminalRedirections(at === length - 1, pipeline.pipeStderr?.[at] !== true), ...rewritten.redirections],
      };
    }),
  }));
  const changed = { ...item, pipelines };
  const prompt = streams.input ? promptOf(item) : null;
  return prompt === null ? [changed] : [makePromptStatement(prompt), changed];
}

/** Redirects each command on its own: in a group, just-bash swallows errors that must end the script (`set -u`). */
function makeTerminalRedirections(output: boolean, errors: boolean): Redirection[] {
  return [...(output ? [makeRedirection(">|", 1, TERMINAL)] : []), ...(errors ? [makeRedirection(">|", 2, TERMINAL_ERRORS)] : [])];
}

const COMPOUND = new Set(["If", "For", "CStyleFor", "While", "Until", "Case", "Group"]);

/** A compound command that is the whole statement: the commands inside are redirected instead. */
function compoundCommandOf(item: Statement): Command | null {
  const command = onlyCommand(item);
  return command !== null && COMPOUND.has(command.type) ? command : null;
}

function rewriteCommand(command: Command, outerStreams: Streams): Command {
  if (command.type === "FunctionDef") return command;
  const streams = narrowStreams(outerStreams, command.redirections);
  switch (command.type) {
    case "SimpleCommand":
      return streams.input && commandNameOf(command) === "read"
        ? { ...command, redirections: [...command.redirections, makeRedirection("<", 0, TERMINAL)] }
        : command;
    case "If":
      return {
        ...command,
        clauses: command.clauses.map(({ condition, body }) => ({
          condition: rewriteBlock(condition, streams),
          body: rewriteBlock(body, streams),
        })),
        elseBody: command.elseBody && rewriteBlock(command.elseBody, streams),
      };
    case "While":
    case "Until":
      return { ...command, condition: rewriteBlock(command.condition, streams), body: rewriteBlock(command.body, streams) };
    case "For":
    case "CStyleFor":
    case "Group":
    case "Subshell":
      return { ...command, body: rewriteBlock(command.body, streams) };
    case "Case":
      return { ...command, items: command.items.map((item) => ({ ...item, body: rewriteBlock(item.body, streams) })) };
    default:
      return command;
  }
}

function narrowStreams(streams: Streams, redirections: readonly Redirection[]): Streams {
  const isInput = ({ operator, fd }: Redirection) => operator.startsWith("<") && (fd ?? 0) === 0;
  return {
    input: streams.input && !redirections.some(isInput),
    output: streams.output && redirections.every(isInput),
  };
}

function makeRedirection(operator: Redirection["operator"], fd: number, path: string): Redirection {
  return { type: "Redirection", fd, operator, target: makeLiteral(path) };
}

function changesShell(command: Command): boolean {
  return (
    command.type === "FunctionDef" ||
    (command.type === "SimpleCommand" && (SHELL_COMMANDS.has(commandNameOf(command)) || command.name === null))
  );
}

/** The prompt of a `read -p`, which must be shown before the input is read. */
function promptOf(item: Statement): Word | null {
  const [command] = item.pipelines[0]?.commands ?? [];
  if (command?.type !== "SimpleCommand" || commandNameOf(command) !== "read" || command.redirections.length > 0) return null;
  const at = command.args.findIndex((word) => /^-[a-z]*p$/.test(literalTextOf(word)));
  return at === -1 ? null : (command.args[at + 1] ?? null);
}

function makePromptStatement(text: Word): Statement {
  return makeStatement({
    ...makeSimpleCommand("printf", makeLiteral("%s"), text),
    redirections: [makeRedirection(">|", 1, TERMINAL_ERRORS)],
  });
}
