// The operator's options: the Worker's variables and secrets. Read once when the object starts; a new value comes with a new
// deployment, which restarts the object.

import type { SetupAccess } from "../../kernel/context.ts";
import { fromBase64 } from "../../lib/base64.ts";
import type { WorkersAi } from "../../models/workers-ai.ts";
import type { KernelStub } from "./kernel-client.ts";
import type { ProcessNamespace } from "./processes.ts";
import type { RepoNamespace } from "./repos.ts";
import type { ShellNamespace } from "./shells.ts";
import { parseOrigin } from "../shared/parse-origin.ts";

/** The kernel is one object. Another name here would be another, empty gateway. */
const KERNEL = "singleton";

export type Env = {
  KERNEL: { getByName(name: string): Pick<Fetcher, "fetch"> & KernelStub };
  /** One object per repository. */
  REPOS: RepoNamespace;
  /** One object per user, for the commands they run. */
  SHELLS: ShellNamespace;
  /** One object per agent process. */
  PROCESSES: ProcessNamespace;
  /** The platform's own models; without it the provider workers-ai does not work. */
  AI?: WorkersAi;
  /** Content of large files. */
  FILES: R2Bucket;
  /** Downloads for other machines; a deployment without it serves none. */
  DOWNLOADS?: Fetcher;
  /** The code sys.setup requires. Without it nobody can set the gateway up. */
  GSV_SETUP_CODE?: string;
  /** The origins this gateway answers to, comma separated; without it, every address the platform routes here. */
  GSV_ORIGIN?: string;
  /** The key for secrets at rest: 32 bytes in base64. Without it the object makes its own. */
  GSV_SECRET_KEY?: string;
};

const KEY_BYTES = 32;

export function kernelOf(env: Env): Pick<Fetcher, "fetch"> & KernelStub {
  return env.KERNEL.getByName(KERNEL);
}

/** Anybody can reach a Worker, so setup always needs a code. The kernel upper-cases the code it receives. */
export function readSetupAccess(env: Env): SetupAccess {
  const code = env.GSV_SETUP_CODE?.trim().toUpperCase();
  return { open: false, code: code || null };
}

/** Null if none are listed. */
export function readOrigins(env: Env): string[] | null {
  const named = (env.GSV_ORIGIN ?? "")
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return named.length === 0 ? null : named.map(mustBeOrigin);
}

/** Null if none is bound. */
export function readBoundSecretKey(env: Env): Uint8Array | null {
  if (!env.GSV_SECRET_KEY) return null;
  const key = /^[A-Za-z0-9+/]{43}=$/.test(env.GSV_SECRET_KEY.trim()) ? fromBase64(env.GSV_SECRET_KEY.trim()) : null;
  if (key?.length !== KEY_BYTES) throw new Error(`GSV_SECRET_KEY must be ${KEY_BYTES} bytes in base64: openssl rand -base64 ${KEY_BYTES}`);
  return key;
}

function mustBeOrigin(text: string): string {
  const origin = parseOrigin(text);
  if (origin === null) throw new Error(`Not an origin in GSV_ORIGIN: ${text}. Use something like https://gsv.example.com`);
  return origin;
}
