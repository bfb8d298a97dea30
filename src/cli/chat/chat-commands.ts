// The slash commands of a chat, which address the chat itself and not the process.

import type { Client } from "../../client/client.ts";
import { formatRelativeTime } from "../terminal/durations.ts";
import { contextFields, resolveConversationId, spentFields, type ConversationRef } from "./processes.ts";
import { truncate, spokenText } from "./message-text.ts";

/** The chat that a command acts on. */
export type Chat = {
  client: Client;
  where: ConversationRef;
  remark(text: string): void;
  load(): Promise<void>;
  abort(): Promise<void>;
  resume(): Promise<void>;
  toggleVerbose(): boolean;
  leave(): void;
};

type Command = { usage: string; doc: string; run(chat: Chat, rest: string): Promise<void> | void };

const KEEP_LAST = 20;

const COMMANDS: Record<string, Command> = {
  help: { usage: "/help", doc: "show this list", run: (chat) => chat.remark(helpText()) },
  new: {
    usage: "/new [title]",
    doc: "start a new conversation; this one is kept",
    async run(chat, title) {
      const { pid } = chat.where;
      const { conversation } = await chat.client.call("proc.conversation.open", { pid, ...(title === "" ? {} : { title }) });
      chat.where.conversationId = conversation.id;
      await chat.load();
    },
  },
  conversations: { usage: "/conversations", doc: "list conversations", run: listConversations },
  open: {
    usage: "/open NAME",
    doc: "switch to another conversation, by id or title",
    async run(chat, name) {
      chat.where.conversationId = await resolveConversationId(chat.client, chat.where.pid, name);
      await chat.load();
    },
  },
  history: { usage: "/history", doc: "show the last messages in full", run: showHistory },
  abort: { usage: "/abort", doc: "stop the current run, like Ctrl-C", run: (chat) => chat.abort() },
  resume: { usage: "/resume", doc: "send the messages that are on hold since the run was stopped", run: (chat) => chat.resume() },
  compact: {
    usage: "/compact",
    doc: `archive all but the last ${KEEP_LAST} messages and replace them with a summary`,
    async run({ client, where }) {
      await client.call("proc.conversation.compact", { ...where, generateSummary: true, keepLast: KEEP_LAST });
    },
  },
  context: {
    usage: "/context",
    doc: "show what the model is told and how full the conversation is",
    run: async (chat) => chat.remark(fieldsText(contextFields(await chat.client.call("proc.context", { ...chat.where })))),
  },
  usage: {
    usage: "/usage",
    doc: "show what this process has used so far",
    run: async (chat) => chat.remark(fieldsText(spentFields((await chat.client.call("proc.usage", { pid: chat.where.pid })).spent))),
  },
  verbose: {
    usage: "/verbose",
    doc: "show or hide tool results and reasoning",
    run: (chat) =>
      chat.remark(
        chat.toggleVerbose() ? "Tool results and reasoning are shown from now on" : "Tool results and reasoning are hidden from now on",
      ),
  },
  quit: { usage: "/quit", doc: "leave, like Ctrl-D; the run continues", run: (chat) => chat.leave() },
};

export async function runCommand(chat: Chat, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) return chat.remark(`Unknown command /${name}: /help lists the commands`);
  await command.run(chat, rest.trim());
}

function helpText(): string {
  const rows = Object.values(COMMANDS).map(({ usage, doc }): [string, string] => [usage, doc]);
  const keys: [string, string][] = [
    ["Ctrl-C", "stop the current run; press again to leave"],
    ["Ctrl-D", "leave; the run continues"],
    ["Ctrl-O", "show more of the last tool call or reasoning"],
    ["Alt-Enter", "start a new line"],
  ];
  return fieldsText([...rows, ...keys]);
}

async function listConversations(chat: Chat): Promise<void> {
  const { conversations } = await chat.client.call("proc.conversation.list", { pid: chat.where.pid });
  if (conversations.length === 0) return chat.remark("All conversations are closed: /new starts another");
  const rows = conversations.map(({ id, title, messageCount, updatedAt }): [string, string] => [
    `${id === chat.where.conversationId ? "*" : " "} ${id}`,
    `${messageCount} messages, ${formatRelativeTime(updatedAt, "-")}${title === null ? "" : `   ${title}`}`,
  ]);
  chat.remark(fieldsText(rows));
}

async function showHistory(chat: Chat): Promise<void> {
  const { messages } = await chat.client.call("proc.history", { ...chat.where, limit: 40, offset: -40 });
  const lines = messages.flatMap((message) => {
    const words = spokenText(message);
    return words === null ? [] : [`${message.role === "user" ? "› " : ""}${truncate(words, 40, 4_000)}\n`];
  });
  chat.remark(lines.length === 0 ? "No messages yet" : lines.join("\n"));
}

function fieldsText(fields: readonly (readonly [string, string])[]): string {
  const longest = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(longest)}  ${value}`).join("\n");
}
