// Shows the context of a process.

import { z } from "zod";
import { ContextState, MessageUsage, OfConversation } from "../../../protocol/proc-records.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "proc.context",
  doc: "Show what a process is told at the start of a run: each part of its instructions with its size, its tools, its model, how full a conversation is, and how many tokens the last answer used, including those from the provider's cache.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  atOnce: 4,
  args: z.object({ ...OfConversation, withText: z.boolean().optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    provider: z.string(),
    model: z.string(),
    contextWindowTokens: z.number().nullable(),
    maxOutputTokens: z.number(),
    parts: z.array(z.object({ name: z.string(), bytes: z.int(), estimatedTokens: z.int(), cut: z.int() })),
    tools: z.array(z.string()),
    toolTokens: z.int(),
    context: ContextState.nullable(),
    lastAnswer: MessageUsage.nullable(),
    text: z.string().optional(),
  }),
  fails: { 404: "there is no such process" },
  example: {
    args: {},
    result: {
      ok: true,
      pid: "init:1000",
      provider: "demo",
      model: "demo",
      contextWindowTokens: 32000,
      maxOutputTokens: 8192,
      parts: [{ name: "system.context:00-gsv.md", bytes: 1200, estimatedTokens: 345, cut: 0 }],
      tools: ["Read"],
      toolTokens: 800,
      context: null,
      lastAnswer: null,
    },
  },
  async run({ agents }, caller, { pid, conversationId, withText }) {
    const { pid: found, value } = await agents.ask(caller, pid, "context", { conversationId });
    const { choice, contextWindow, parts, tools, toolTokens, system } = await agents.prepare(caller, found, conversationId);
    return {
      ok: true as const,
      pid: found,
      provider: choice.provider,
      model: choice.model,
      contextWindowTokens: contextWindow,
      maxOutputTokens: choice.maxOutputTokens,
      parts,
      tools: tools.map(({ name }) => name),
      toolTokens,
      ...value,
      ...(withText === true ? { text: system } : {}),
    };
  },
});
