// One setting of one user: their own users/<uid>/ai/<name> before the system's config/ai/<name>. Empty is not set, because
// nothing that was set can be taken away. What cannot be read counts as not set, and a problem says so; no problem shows a value.

import { SysError } from "../../lib/sys-error.ts";
import type { ConfigReads } from "../nouns/config.ts";

/** Asks for keys and collects what is wrong with their values. */
export class Settings {
  readonly problems: string[] = [];
  readonly #config: Pick<ConfigReads, "get">;
  readonly #own: string;

  constructor(config: Pick<ConfigReads, "get">, uid: number) {
    this.#config = config;
    this.#own = `users/${uid}/ai`;
  }

  ownKey(name: string): string {
    return `${this.#own}/${name}`;
  }

  own(name: string): string {
    return this.#at(this.ownKey(name));
  }

  system(name: string): string {
    return this.#at(systemKey(name));
  }

  /** The first of both that can be read. `means` ends the sentence "<key> is not ...". */
  first<T>(name: string, read: (text: string) => T | null, means: string): T | null {
    return this.readOwn(name, read, means) ?? this.readSystem(name, read, means);
  }

  readOwn<T>(name: string, read: (text: string) => T | null, means: string): T | null {
    return this.#read(this.ownKey(name), read, means);
  }

  readSystem<T>(name: string, read: (text: string) => T | null, means: string): T | null {
    return this.#read(systemKey(name), read, means);
  }

  #read<T>(key: string, read: (text: string) => T | null, means: string): T | null {
    const text = this.#at(key);
    const value = text === "" ? null : read(text);
    if (text !== "" && value === null) this.problems.push(`${key} is not ${means}, so it counts as not set`);
    return value;
  }

  #at(key: string): string {
    const { value, problem } = this.read(key);
    if (problem !== null && !this.problems.includes(problem)) this.problems.push(problem);
    return value;
  }

  /** A sealed value that does not open is empty and has a problem. */
  read(key: string): { value: string; problem: string | null } {
    try {
      return { value: this.#config.get(key)?.trim() ?? "", problem: null };
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      return { value: "", problem: error.message };
    }
  }
}

export function systemKey(name: string): string {
  return `config/ai/${name}`;
}

/** Plain digits only: "1e9" and "0x10" are mistakes more often than meant. */
export function wholeNumber(least: number, most: number): (text: string) => number | null {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : null;
    return value === null || value < least || value > most ? null : value;
  };
}
