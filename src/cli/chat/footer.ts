// The footer below a conversation: status, queued messages, and the input line or the keys that answer a question. Rebuilt from the
// state each time it is drawn.

import { displayWidth } from "../terminal/display-width.ts";
import type { LineEditor } from "../terminal/line-editor.ts";
import { applyStyle } from "../terminal/text-style.ts";
import { type Footer, wrapInput } from "../terminal/page.ts";
import { cutTo } from "../terminal/status-line.ts";
import { escapeControls } from "../terminal/terminal.ts";
import { BUDGET, type Question } from "./tool-call.ts";

export type FooterState = {
  columns: number;
  rows: number;
  isStyled: boolean;
  /** A line of the answer is still arriving. */
  isLineOpen: boolean;
  question: Question | null;
  isArmed: boolean;
  reason: LineEditor | null;
  editor: LineEditor;
  /** Each starts with its state: queued or on hold. */
  queued: readonly string[];
  sending: readonly string[];
  isWorking: boolean;
  /** What the run does, with the seconds; empty if none is active. */
  phase: string;
  /** It is worth showing below an open line: the run does something silent, and not just for a moment. */
  isPhaseSilent: boolean;
  isStopping: boolean;
  isLeaving: boolean;
  isConnected: boolean;
};

const PROMPT = "› ";
const PLACEHOLDER = "type a message, or /help";
const CALL_KEYS = "y allow once   a allow exactly this for a day   n deny   w show all";
const BUDGET_KEYS = "y continue   n stop";
/** Pending messages shown at most, so that the rest has room. */
const WAITING_ROWS = 5;

/** Null while text arrives and nobody types: the answer has the terminal to itself. */
export function makeChatFooter(state: FooterState): Footer | null {
  const { isLineOpen, editor, queued, sending, question, isConnected, columns, rows } = state;
  const isQuiet =
    editor.isEmpty && queued.length + sending.length === 0 && question === null && isConnected && !state.isStopping && !state.isPhaseSilent;
  if (isLineOpen && isQuiet) return null;
  const paint = (text: string) => (state.isStyled ? applyStyle(text, "dim") : text);
  const line = (text: string) => paint(cutTo(escapeControls(text), columns - 1));
  const status = statusText(state);
  const waiting = [...queued, ...sending.map((text) => `sending: ${text}`)];
  // An empty line between the conversation and the input.
  const above = [...(isLineOpen ? [] : [""]), ...(status === "" ? [] : [line(status)]), ...waiting.slice(0, WAITING_ROWS).map(line)];
  if (waiting.length > WAITING_ROWS) above.push(line(`and ${waiting.length - WAITING_ROWS} more`));
  const input = makeInputPart(state, paint);
  // Input longer than the terminal scrolls, with the cursor in view.
  const room = Math.max(1, rows - above.length - 2);
  const first = Math.max(0, Math.min(input.cursor.row, input.rows.length - room));
  const shown = input.rows.slice(first, first + room);
  return { rows: [...above, ...shown], cursor: { row: above.length + input.cursor.row - first, column: input.cursor.column } };
}

function makeInputPart(state: FooterState, paint: (text: string) => string): Footer {
  const { editor, reason, isArmed, question, columns, isWorking } = state;
  const inputRows = (prompt: string, { textBeforeCursor, text }: LineEditor) =>
    wrapInput(prompt, escapeControls(textBeforeCursor, "\n\t"), escapeControls(text.slice(textBeforeCursor.length), "\n\t"), columns);
  if (reason !== null) return inputRows("reason (optional): ", reason);
  if (isArmed && question !== null) {
    const keys = cutTo(question.syscall === BUDGET ? BUDGET_KEYS : CALL_KEYS, columns - 1);
    return { rows: [state.isStyled ? applyStyle(keys, "yellow") : keys], cursor: { row: 0, column: displayWidth(keys) } };
  }
  const input = inputRows(PROMPT, editor);
  if (!editor.isEmpty || isWorking || question !== null) return input;
  return { ...input, rows: [`${PROMPT}${paint(PLACEHOLDER)}`] };
}

function statusText({ isConnected, isStopping, isWorking, phase, isLeaving, question, isArmed, editor }: FooterState): string {
  if (!isConnected) return "connection lost; reconnecting";
  if (isStopping) return "stopping; press Ctrl-C again to leave";
  if (isLeaving) return "press Ctrl-C again or Ctrl-D to leave";
  if (question !== null && !isArmed && !editor.isEmpty) return "a question is waiting above: press Tab, then answer it with a key";
  return isWorking && question === null ? `${phase}; Ctrl-C to stop` : "";
}
