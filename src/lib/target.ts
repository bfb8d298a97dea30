// The target that a call names: the gateway or a device. Where it actually runs is decided in kernel/target.ts, which knows
// devices and sessions.

/** The gateway's own target. A device may have any other name. */
export const NATIVE = "gsv";

export function isGatewayTarget(target: unknown): boolean {
  return target === undefined || target === NATIVE;
}

/** Whether arguments name a device, or a session, which may be a device's. */
export function namesDevice({ target, sessionId }: { target?: unknown; sessionId?: unknown }): boolean {
  return (typeof target === "string" && target !== NATIVE) || sessionId !== undefined;
}
