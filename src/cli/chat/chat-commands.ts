// The slash commands of a chat, which address the chat itself and not the process.

import type { Client } from "../../client/client.ts";
import { relative } from "../terminal/durations.ts";
import { contextFields, conversationOf, spentFields, type Where } from "./processes.ts";
import { truncate, spokenText } from "./message-text.ts";

/** The chat that a command acts on. */
export type Chat = {
  client: Client;
  where: Where;
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
  help: { usage: "/help", doc: "this list", run: (chat) => chat.remark(helpText()) },
  new: {
    usage: "/new [title]",
    doc: "begin another conversation; this one stays",
    async run(chat, title) {
      const { pid } = chat.where;
      const { conversation } = await chat.client.call("proc.conversation.open", { pid, ...(title === "" ? {} : { title }) });
      chat.where.conversationId = conversation.id;
      await chat.load();
    },
  },
  conversations: { usage: "/conversations", doc: "those there are", run: listConversations },
  open: {
    usage: "/open NAME",
    doc: "go on with another conversation, by its id or title",
    async run(chat, name) {
      chat.where.conversationId = await conversationOf(chat.client, chat.where.pid, name);
      await chat.load();
    },
  },
  history: { usage: "/history", doc: "the last messages, at length", run: showHistory },
  abort: { usage: "/abort", doc: "end what it is working on, as Ctrl-C does", run: (chat) => chat.abort() },
  resume: { usage: "/resume", doc: "say what waits on hold since it was stopped", run: (chat) => chat.resume() },
  compact: {
    usage: "/compact",
    doc: `put all but the last ${KEEP_LAST} messages into the archive, and a summary in their place`,
    async run({ client, where }) {
      await client.call("proc.conversation.compact", { ...where, generateSummary: true, keepLast: KEEP_LAST });
    },
  },
  context: {
    usage: "/context",
    doc: "what the model is told, and how full the conversation is",
    run: async (chat) => chat.remark(fieldsText(contextFields(await chat.client.call("proc.context", { ...chat.where })))),
  },
  usage: {
    usage: "/usage",
    doc: "what this process has used so far",
    run: async (chat) => chat.remark(fieldsText(spentFields((await chat.client.call("proc.usage", { pid: chat.where.pid })).spent))),
  },
  verbose: {
    usage: "/verbose",
    doc: "show results of tools and thoughts, or fold them again",
    run: (chat) => chat.remark(chat.toggleVerbose() ? "Results and thoughts are shown from now on" : "Results and thoughts are folded"),
  },
  quit: { usage: "/quit", doc: "leave, as Ctrl-D does; what runs goes on", run: (chat) => chat.leave() },
};

export async function runCommand(chat: Chat, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) return chat.remark(`There is no /${name}: /help lists what there is`);
  await command.run(chat, rest.trim());
}

function helpText(): string {
  const rows = Object.values(COMMANDS).map(({ usage, doc }): [string, string] => [usage, doc]);
  const keys: [string, string][] = [
    ["Ctrl-C", "stop what it is working on; once more leaves"],
    ["Ctrl-D", "leave; what runs goes on"],
    ["Ctrl-O", "more of the last tool call or thought"],
    ["Alt-Enter", "another line"],
  ];
  return fieldsText([...rows, ...keys]);
}

async function listConversations(chat: Chat): Promise<void> {
  const { conversations } = await chat.client.call("proc.conversation.list", { pid: chat.where.pid });
  if (conversations.length === 0) return chat.remark("All of them are closed: /new begins another");
  const rows = conversations.map(({ id, title, messageCount, updatedAt }): [string, string] => [
    `${id === chat.where.conversationId ? "*" : " "} ${id}`,
    `${messageCount} messages, ${relative(updatedAt, "-")}${title === null ? "" : `   ${title}`}`,
  ]);
  chat.remark(fieldsText(rows));
}

async function showHistory(chat: Chat): Promise<void> {
  const { messages } = await chat.client.call("proc.history", { ...chat.where, limit: 40, offset: -40 });
  const lines = messages.flatMap((message) => {
    const words = spokenText(message);
    return words === null ? [] : [`${message.role === "user" ? "› " : ""}${truncate(words, 40, 4_000)}\n`];
  });
  chat.remark(lines.length === 0 ? "Nothing was said yet" : lines.join("\n"));
}

function fieldsText(fields: readonly (readonly [string, string])[]): string {
  const longest = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(longest)}  ${value}`).join("\n");
}
