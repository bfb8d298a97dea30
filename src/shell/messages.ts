// What is said of a command that did not end by itself.

export function timedOut(ms: number): string {
  return `Command timed out after ${ms}ms`;
}
