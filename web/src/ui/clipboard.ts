// Copies text to the clipboard, also where the page was opened by plain http and browsers offer only the older way.

export const COPY_REFUSED = "This browser does not allow copying: select the text instead";

/** Resolves to whether it was copied. Call it from a click. */
export async function copyToClipboard(text: string): Promise<boolean> {
  try {
    // oxlint-disable-next-line no-restricted-properties
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  const fill = (event: ClipboardEvent) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData("text/plain", text);
  };
  addEventListener("copy", fill, { capture: true, once: true });
  try {
    return document.execCommand("copy");
  } finally {
    removeEventListener("copy", fill, { capture: true });
  }
}
