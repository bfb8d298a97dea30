// A question answered by a single key at the terminal, outside of a chat. Whatever was typed before the keys are named is dropped.

import { createInterface } from "node:readline/promises";
import { type Decision, EXACTLY, Questions } from "../chat/questions.ts";
import { onKeys } from "./keys.ts";
import { type Look, lookOfStdout } from "./text-style.ts";
import { BUDGET, type Question, questionText } from "../chat/tool-call.ts";

/** Null where it was not answered: somebody pressed Ctrl-C, or it was answered elsewhere meanwhile. */
export async function askKey(question: Question, over: AbortSignal, look: Look = lookOfStdout()): Promise<Decision | "interrupt" | null> {
  const out = process.stderr;
  const isBudget = question.syscall === BUDGET;
  const keys = isBudget ? "  y go on   n stop here" : "  y allow it once   a exactly this for a day   n refuse   w show all of it";
  const quiet = new Questions();
  quiet.add(question);
  const key = await new Promise<string | null>((resolve) => {
    const settle = (answer: string | null) => {
      stop();
      quiet.disarm();
      over.removeEventListener("abort", gone);
      resolve(answer);
    };
    const gone = () => settle(null);
    const stop = onKeys(({ text = "", name, ctrl = false }) => {
      if (ctrl && name === "c") return settle("interrupt");
      if (!quiet.isArmed) return quiet.wait(false);
      if (text === "w" && !isBudget)
        return void out.write(`\r\n${questionText(question, look, true).replaceAll("\n", "\r\n")}\r\n${keys} `);
      if (isBudget ? /^[yn]$/.test(text) : /^[yan]$/.test(text)) settle(text);
    }, out);
    quiet.onArmed = () => void out.write(`${keys} `);
    quiet.wait(false);
    over.addEventListener("abort", gone);
    if (over.aborted) gone();
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
  const ended = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
  const reason = await Promise.race([reader.question("  why not? (Enter for no reason) "), ended]);
  reader.close();
  return reason.trim();
}
