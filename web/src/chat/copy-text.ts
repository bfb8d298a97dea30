// Copies text to the clipboard, and says so if the browser does not allow it.

import { COPY_REFUSED, copyToClipboard } from "../ui/clipboard.ts";
import { showNotice } from "../state/notices.ts";

/** Resolves to whether it was copied. */
export async function copyText(text: string): Promise<boolean> {
  const isCopied = await copyToClipboard(text);
  if (!isCopied) showNotice(COPY_REFUSED, "bad");
  return isCopied;
}
