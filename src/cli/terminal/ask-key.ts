// A question answered by a single key at the terminal, outside of a chat. Keys typed before the choices are shown are dropped.

import { createInterface } from "node:readline/promises";
import { type Decision, EXACTLY, Questions } from "../chat/questions.ts";
import { onKeys } from "./keys.ts";
import { type OutputMode, stdoutMode } from "./text-style.ts";
import { BUDGET, type Question, questionText } from "../chat/tool-call.ts";

/** Returns "interrupt" for Ctrl-C, and null if the question was withdrawn, for example because it was answered elsewhere. */
export async function askKey(
  question: Question,
  withdrawn: AbortSignal,
  look: OutputMode = stdoutMode(),
): Promise<Decision | "interrupt" | null> {
  const out = process.stderr;
  const isBudget = question.syscall === BUDGET;
  const keys = isBudget ? "  y continue   n stop" : "  y allow once   a allow exactly this for a day   n deny   w show all";
  const questions = new Questions();
  questions.add(question);
  const key = await new Promise<string | null>((resolve) => {
    const settle = (answer: string | null) => {
      stop();
      questions.ignoreKeys();
      withdrawn.removeEventListener("abort", onWithdrawn);
      resolve(answer);
    };
    const onWithdrawn = () => settle(null);
    const stop = onKeys(({ text = "", name, ctrl = false }) => {
      if (ctrl && name === "c") return settle("interrupt");
      if (!questions.acceptsKeys) return questions.restartPause(false);
      if (text === "w" && !isBudget)
        return void out.write(`\r\n${questionText(question, look, true).replaceAll("\n", "\r\n")}\r\n${keys} `);
      if (isBudget ? /^[yn]$/.test(text) : /^[yan]$/.test(text)) settle(text);
    }, out);
    questions.onArmed = () => void out.write(`${keys} `);
    questions.restartPause(false);
    withdrawn.addEventListener("abort", onWithdrawn);
    if (withdrawn.aborted) onWithdrawn();
  });
  if (key === null) return null;
  out.write(key === "interrupt" ? "\n" : `${key}\n`);
  if (key === "interrupt") return key;
  if (key !== "n") return { decision: "approve", ...(key === "a" ? EXACTLY : {}) };
  const reason = await askReason();
  return { decision: "deny", ...(reason === "" ? {} : { reason }) };
}

async function askReason(): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
  const reason = await Promise.race([reader.question("  reason (optional): "), closed]);
  reader.close();
  return reason.trim();
}
