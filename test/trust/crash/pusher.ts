// Stock git pushes while the gateway is killed. A push that git reported as done is there afterwards, with all it needs; one that
// was cut is wholly there or not at all.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { commit, git, ok, withLogin } from "../../support/git.ts";
import type { Lane } from "./lane.ts";
import type { Oracle } from "./oracle.ts";

const BRANCH = "refs/heads/pushed";

export class Pusher {
  readonly #lane: Lane;
  readonly #folder: string;
  readonly #work: string;
  #acked: string | null = null;
  #tried: string | null = null;
  #count = 0;
  pushes = 0;

  /** `folder` is used only by this pusher. */
  constructor(lane: Lane, folder: string) {
    this.#lane = lane;
    this.#folder = folder;
    this.#work = join(folder, "work");
  }

  get #repo(): string {
    return `${this.#lane.person.username}/pushed`;
  }

  /** Pushes until one push fails, which is taken as the gateway's end. */
  async run(url: string): Promise<void> {
    if (!existsSync(this.#work)) {
      mkdirSync(this.#work, { recursive: true });
      await ok(this.#work, "init", "-q");
    }
    const isCreated = await this.#lane.line!.call("repo.create", { repo: this.#repo }).then(
      () => true,
      () => false,
    );
    if (!isCreated) return;
    for (;;) {
      const n = ++this.#count;
      this.#tried = await commit(this.#work, { [`f${n % 9}`]: `${n}\n`, large: noise(n) }, `push ${n}`);
      const ran = await git(this.#work, "push", "-q", this.#remoteUrl(url), `main:${BRANCH}`);
      if (ran.code !== 0) return;
      this.#acked = this.#tried;
      this.pushes++;
    }
  }

  /** Call it only while no request is in progress. */
  async judge(url: string, oracle: Oracle): Promise<void> {
    if (this.#tried === null) return;
    const ran = await git(this.#folder, "ls-remote", this.#remoteUrl(url), BRANCH);
    if (ran.code !== 0) {
      if (this.#acked !== null) throw new Error(`git ls-remote: ${ran.err}`);
      return;
    }
    const found = ran.out.split("\t", 1)[0] || null;
    if (found !== this.#acked && found !== this.#tried)
      oracle.violate("lost", `${this.#repo}: pushed ${this.#acked}, then tried ${this.#tried}, found ${found}`);
    this.#acked = found;
  }

  #remoteUrl(url: string): string {
    return withLogin(`${url}/git/${this.#repo}`, this.#lane.person.username, this.#lane.person.token);
  }
}

/** Different every time and hard to compress, so that a push takes more than one turn of the event loop. */
function noise(seed: number): Uint8Array {
  const bytes = new Uint8Array(120_000);
  let state = seed * 2654435761;
  for (let at = 0; at < bytes.length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}
