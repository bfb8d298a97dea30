// Locators for the chat page of the web desktop.

import type { Locator, Page } from "playwright-core";

export function messageField(page: Page): Locator {
  return page.getByRole("textbox", { name: "Message" });
}

export function messageList(page: Page): Locator {
  return page.getByRole("log", { name: "Messages" });
}

/** The text of each message in the page, in order. */
export function conversationRows(page: Page): Promise<string[]> {
  return messageList(page)
    .getByRole("article")
    .evaluateAll((all) => all.map((one) => (one as HTMLElement).innerText.trim()));
}
