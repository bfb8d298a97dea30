// Escape in a form of a question closes the form. It must not reach the page, where it stops what the agent does.

export function leaveOnEscape(event: KeyboardEvent, leave: () => void): void {
  if (event.key !== "Escape" || event.isComposing) return;
  event.preventDefault();
  event.stopPropagation();
  leave();
}
