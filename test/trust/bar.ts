// Shared by all bars: counts checks, prints one line of JSON, and fails the process if any check failed.

import { execFileSync } from "node:child_process";

export class Bar {
  readonly #name: string;
  readonly #failures: string[] = [];
  readonly numbers: Record<string, number | string> = {};

  constructor(name: string) {
    this.#name = name;
  }

  /** Counts a check under its kind; the story of a failed one is kept. */
  check(kind: string, isRight: boolean, story: () => string): void {
    this.numbers[kind] = Number(this.numbers[kind] ?? 0) + 1;
    if (!isRight) this.#failures.push(`${kind}: ${story()}`);
  }

  get isWrong(): boolean {
    return this.#failures.length > 0;
  }

  end(seed: number | null = null): void {
    for (const story of this.#failures.slice(0, 20)) console.error(story);
    if (this.#failures.length > 20) console.error(`... and ${this.#failures.length - 20} more`);
    const pass = this.#failures.length === 0;
    console.log(
      JSON.stringify({ bar: this.#name, pass, numbers: { ...this.numbers, wrong: this.#failures.length }, seed, commit: commit() }),
    );
    process.exitCode = pass ? 0 : 1;
  }
}

/** `--name value` from the command line. */
export function numberFlag(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}

export function flag(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? undefined : process.argv[at + 1];
}

export function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "unknown";
  }
}
