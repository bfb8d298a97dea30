// Reads the AI settings of one user: their own users/<uid>/ai/<name> takes precedence over the system's config/ai/<name>. An empty value
// counts as not set, because keys cannot be deleted. An invalid value counts as not set and adds a problem, which never shows the value.

import { SysError } from "../../lib/sys-error.ts";
import type { ConfigReads } from "../nouns/config.ts";

/** Reads keys and collects the problems of their values. */
export class Settings {
  readonly problems: string[] = [];
  readonly #config: Pick<ConfigReads, "get">;
  readonly #ownPrefix: string;

  constructor(config: Pick<ConfigReads, "get">, uid: number) {
    this.#config = config;
    this.#ownPrefix = `users/${uid}/ai`;
  }

  ownKey(name: string): string {
    return `${this.#ownPrefix}/${name}`;
  }

  readOwnText(name: string): string {
    return this.#readText(this.ownKey(name));
  }

  readSystemText(name: string): string {
    return this.#readText(systemKey(name));
  }

  /** The user's value, or the system's if that is not set or invalid. `means` ends the sentence "<key> is not ...". */
  readOwnOrSystem<T>(name: string, read: (text: string) => T | null, means: string): T | null {
    return this.readOwn(name, read, means) ?? this.readSystem(name, read, means);
  }

  readOwn<T>(name: string, read: (text: string) => T | null, means: string): T | null {
    return this.#parse(this.ownKey(name), read, means);
  }

  readSystem<T>(name: string, read: (text: string) => T | null, means: string): T | null {
    return this.#parse(systemKey(name), read, means);
  }

  #parse<T>(key: string, read: (text: string) => T | null, means: string): T | null {
    const text = this.#readText(key);
    const value = text === "" ? null : read(text);
    if (text !== "" && value === null) this.problems.push(`${key} is not ${means}, so it is ignored`);
    return value;
  }

  #readText(key: string): string {
    const { value, problem } = this.read(key);
    if (problem !== null && !this.problems.includes(problem)) this.problems.push(problem);
    return value;
  }

  /** A sealed value that cannot be opened is returned as empty, with a problem. */
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

/** Plain digits only: "1e9" and "0x10" are more often mistakes than intended. */
export function makeWholeNumberParser(min: number, max: number): (text: string) => number | null {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : null;
    return value === null || value < min || value > max ? null : value;
  };
}
