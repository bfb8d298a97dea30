// gsv chat: a conversation with a process at a terminal (chat-session.ts), or one message and its answer (one-message.ts).

import type { Client } from "../../client/client.ts";
import { readStdinRest } from "../terminal/ask.ts";
import { Problem } from "../terminal/problem.ts";
import { resolveConversationId, resolvePid, type ConversationRef } from "../chat/processes.ts";
import { type Globals, withClient } from "../session/session.ts";

export type ChatFlags = Globals & {
  pid?: string;
  conversation?: string;
  new?: boolean;
  title?: string;
  verbose?: boolean;
  events?: boolean;
  wait?: boolean;
};

const EXIT_USAGE = 2;

export async function chat(flags: ChatFlags, words: readonly string[]): Promise<number> {
  const isVerbose = flags.verbose === true;
  if (flags.new === true && flags.conversation !== undefined) throw new Problem("Use either --new or --conversation, not both", EXIT_USAGE);
  if (flags.title !== undefined && flags.new !== true) throw new Problem("--title needs --new", EXIT_USAGE);
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  if (words.length === 0 && isTerminal && flags.json !== true && flags.events !== true) {
    const { ChatSession } = await import("../chat/chat-session.ts");
    return withClient(flags, async (client) => new ChatSession(client, await resolveConversationRef(client, flags), { isVerbose }).run());
  }
  if (words.length === 0 && process.stdin.isTTY) throw new Problem('No message: gsv chat "your message"', EXIT_USAGE);
  const { chatOnce } = await import("../chat/one-message.ts");
  return withClient(flags, async (client) => {
    // Read after the login, which may itself read a password from standard input.
    const piped = process.stdin.isTTY ? "" : (await readStdinRest()).trimEnd();
    const message = [words.join(" "), piped].filter((part) => part.trim() !== "").join("\n\n");
    if (message === "") throw new Problem("No message: standard input is empty", EXIT_USAGE);
    const prints = flags.events === true ? "events" : flags.json === true ? "object" : "text";
    return chatOnce(client, await resolveConversationRef(client, flags), message, { isVerbose, prints, waits: flags.wait === true });
  });
}

async function resolveConversationRef(client: Client, flags: ChatFlags): Promise<ConversationRef> {
  const pid = await resolvePid(client, flags.pid);
  if (flags.new !== true) return { pid, conversationId: await resolveConversationId(client, pid, flags.conversation) };
  const title = flags.title === undefined ? {} : { title: flags.title };
  const { conversation } = await client.call("proc.conversation.open", { pid, ...title });
  return { pid, conversationId: conversation.id };
}
