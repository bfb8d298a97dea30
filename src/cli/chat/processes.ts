// Resolves the names of processes and conversations, and formats the figures of a process.

import type { Calls, Client } from "../../client/client.ts";
import { formatDuration } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";

export type ProcessEntry = Calls["proc.list"]["result"]["processes"][number];
export type Conversation = Calls["proc.conversation.list"]["result"]["conversations"][number];
type Spent = Calls["proc.usage"]["result"]["spent"];
type Context = Calls["proc.context"]["result"];

/** One process and one of its conversations. */
export type ConversationRef = { pid: string; conversationId: string };

export const DEFAULT_CONVERSATION = "default";

/** By pid, label, unique prefix of a pid, or `init`; without a name, the user's own init. */
export async function resolvePid(client: Client, name?: string): Promise<string> {
  const { uid } = client.session.identity.process;
  const init = `init:${uid}`;
  if (name === undefined || name === "" || name === "init") return init;
  const { processes } = await client.call("proc.list", {});
  const exact = processes.find(({ pid }) => pid === name);
  if (exact !== undefined) return exact.pid;
  const found = processes.filter(({ pid, label }) => pid.startsWith(name) || label === name);
  if (found.length === 0) throw new Problem(`You have no process ${name}: gsv proc list shows your processes`);
  if (found.length > 1) throw new Problem(`Several ids match: ${found.map(({ pid }) => pid).join(", ")}`);
  return found[0]!.pid;
}

/** By id, title or unique prefix of an id; closed ones too. */
export async function resolveConversationId(client: Client, pid: string, name?: string): Promise<string> {
  if (name === undefined || name === "" || name === DEFAULT_CONVERSATION) return DEFAULT_CONVERSATION;
  const { conversations } = await client.call("proc.conversation.list", { pid, includeClosed: true });
  const exact = conversations.find(({ id, title }) => id === name || title === name);
  if (exact !== undefined) return exact.id;
  const found = conversations.filter(({ id }) => id.startsWith(name));
  if (found.length > 1) throw new Problem(`Several ids match: ${found.map(({ id }) => id).join(", ")}`);
  if (found.length === 0) throw new Problem(`There is no conversation ${name}: gsv chat --new starts one`);
  return found[0]!.id;
}

export function spentFields({ modelCalls, toolCalls, wallMs, usage }: Spent): [string, string][] {
  const about = usage.isEstimate === true ? "about " : "";
  const cached = usage.cacheRead > 0 ? `, ${formatCount(usage.cacheRead)} from the cache` : "";
  return [
    ["model calls", formatCount(modelCalls)],
    ["tool calls", formatCount(toolCalls)],
    ["tokens", `${about}${formatCount(usage.input)} in${cached}, ${about}${formatCount(usage.output)} out`],
    ["cost", formatDollars(usage.cost.total)],
    ["time", formatDuration(wallMs)],
  ];
}

export function formatDollars(dollars: number): string {
  if (dollars === 0) return "$0";
  return `$${dollars < 0.01 ? dollars.toPrecision(2) : dollars.toFixed(2)}`;
}

export function contextFields({ provider, model, contextWindowTokens, tools, toolTokens, context, parts }: Context): [string, string][] {
  const partTokens = parts.reduce((sum, { estimatedTokens }) => sum + estimatedTokens, 0);
  const window = contextWindowTokens === null ? "unknown" : `${formatCount(contextWindowTokens)} tokens`;
  const fill = context === null ? "no messages yet" : formatFill(context.inputTokens, context.pressure);
  return [
    ["model", `${provider}/${model}`],
    ["window", window],
    ["instructions", `${formatCount(partTokens)} tokens in ${parts.length} parts`],
    ["tools", `${formatCount(toolTokens)} tokens: ${tools.join(", ")}`],
    ["conversation", fill],
  ];
}

export function formatCount(number: number): string {
  return Math.round(number).toLocaleString("en-US").replaceAll(",", " ");
}

function formatFill(tokens: number, pressure: number | null): string {
  return `${formatCount(tokens)} tokens at the last call${pressure === null ? "" : `, ${Math.round(pressure * 100)} % of the context window`}`;
}
