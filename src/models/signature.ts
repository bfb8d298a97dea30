// Opaque data that a provider wants back with the next request: signatures of thoughts, ids of items. It is bound to the model
// that made it, because another provider, and often another model of the same one, would refuse the whole request over it.

import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider";

/** The model that made it; the prefix of every signature, up to the first space. */
export function makerId(dialect: string, model: string): string {
  return `${dialect}/${model.replaceAll(" ", "_")}`;
}

export function packSignature(maker: string, metadata: SharedV4ProviderMetadata | undefined): string | undefined {
  const isEmpty = metadata === undefined || Object.values(metadata).every((fields) => fields === undefined || isBlank(fields));
  return isEmpty ? undefined : `${maker} ${JSON.stringify(metadata)}`;
}

/** Undefined if another model made it, or there is none. */
export function unpackSignature(maker: string, signature: string | undefined): SharedV4ProviderOptions | undefined {
  if (signature === undefined || !signature.startsWith(`${maker} `)) return undefined;
  try {
    return JSON.parse(signature.slice(maker.length + 1)) as SharedV4ProviderOptions;
  } catch {
    return undefined;
  }
}

function isBlank(fields: Record<string, unknown>): boolean {
  return Object.values(fields).every((value) => value === undefined || value === null);
}
