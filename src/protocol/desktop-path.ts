// Paths of the web desktop in notifications, such as /chat/PID. What opens them must not be led elsewhere.

/** Whether the text is a path of the web desktop, and nothing that leads to another origin. */
export function isDesktopPath(text: string): boolean {
  return /^\/(?![/\\])[\w/%.~:@-]*$/.test(text);
}
