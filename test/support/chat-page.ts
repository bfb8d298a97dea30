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

/** Scrolls through what a question shows, without which it cannot be allowed. */
export async function readWhole(question: Locator): Promise<void> {
  const more = question.getByRole("button", { name: "Scroll on" });
  const allow = question.getByRole("button", { name: "Allow", exact: true });
  // The button goes when the end is in view.
  while (!(await allow.isEnabled())) if (await more.isVisible()) await more.click({ timeout: 1_000 }).catch(() => {});
}
