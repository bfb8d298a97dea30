// What an error of the operating system means.

export function isNoSpace(error: unknown): boolean {
  return hasCode(error, "ENOSPC", "EDQUOT");
}

/** Too many files are open, which may be different a moment later. */
export function isOutOfHandles(error: unknown): boolean {
  return hasCode(error, "EMFILE", "ENFILE");
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
