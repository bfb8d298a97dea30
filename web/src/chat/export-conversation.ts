// Saves a conversation as a Markdown file. It is read page by page and never leaves this browser.

import { call } from "../state/call.ts";
import { formatMessage } from "./format-message.ts";

const PAGE = 200;
const FILE_NAME_CHARS = 60;

export async function saveConversation(pid: string, conversationId: string, title: string): Promise<void> {
  const parts = [`# ${title}\n`];
  for (let after: number | null = null; ;) {
    const from: { afterMessageId?: number } = after === null ? {} : { afterMessageId: after };
    const { messages, truncated } = await call("proc.history", { pid, conversationId, limit: PAGE, ...from });
    parts.push(...messages.map(formatMessage).filter((part) => part !== ""));
    after = messages.at(-1)?.id ?? null;
    if (truncated !== true || after === null) break;
  }
  const url = URL.createObjectURL(new Blob([parts.join("\n")], { type: "text/markdown" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: `${fileNameOf(title)}.md` });
  link.click();
  URL.revokeObjectURL(url);
}

function fileNameOf(title: string): string {
  const name = title.replaceAll(/[^\p{L}\p{N} _-]/gu, "").trim();
  return name.slice(0, FILE_NAME_CHARS) || "conversation";
}
