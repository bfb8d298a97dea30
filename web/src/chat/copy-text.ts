// Copies text to the clipboard, and says so if the browser does not allow it.

import { showNotice } from "../state/notices.ts";

/** Resolves to whether it was copied. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    showNotice("This browser does not allow copying: select the text instead", "bad");
    return false;
  }
}
