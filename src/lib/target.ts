// Where a call says it runs: on the gateway, or on a device. What is said is not yet where it goes: kernel/target.ts knows devices
// and sessions.

/** The gateway's own target. A device may have any other name. */
export const NATIVE = "gsv";

export function isNative(target: unknown): boolean {
  return target === undefined || target === NATIVE;
}

/** Whether arguments name a device, or a session, which may be a device's. */
export function namesDevice({ target, sessionId }: { target?: unknown; sessionId?: unknown }): boolean {
  return (typeof target === "string" && target !== NATIVE) || sessionId !== undefined;
}
