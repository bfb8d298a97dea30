// The one way a call fails with a frame error. Anything else that is thrown is a bug of ours and becomes a 500 with an incident
// id. The table below lists every code GSV answers with.

export const ERRORS = {
  102: { name: "protocol_unsupported", meaning: "the client speaks another protocol version", retryable: false },
  103: { name: "client_invalid", meaning: "the client's description of itself is not valid", retryable: false },
  400: { name: "bad_request", meaning: "the frame or an argument is wrong; the message names it", retryable: false },
  401: { name: "unauthenticated", meaning: "no credential, or not a valid one", retryable: false },
  403: { name: "denied", meaning: "the caller may not do this", retryable: false },
  404: { name: "not_found", meaning: "no such syscall or object, or not the caller's", retryable: false },
  409: { name: "conflict", meaning: "the current state does not allow it", retryable: false },
  413: { name: "too_large", meaning: "over a size limit", retryable: false },
  425: { name: "setup_required", meaning: "the gateway has no user yet; call sys.setup", retryable: false },
  429: { name: "busy", meaning: "over a rate or concurrency limit; try again later", retryable: true },
  500: { name: "internal", meaning: "a bug in GSV; the incident id is in the gateway's log", retryable: false },
  503: { name: "unavailable", meaning: "something the call needs cannot be reached now", retryable: true },
  504: { name: "timeout", meaning: "no answer in time; the outcome may be unknown", retryable: true },
  507: {
    name: "storage_full",
    meaning: "the gateway's disk is full or the owner's quota is used up; nothing was changed",
    retryable: true,
  },
} as const;

export type ErrorCode = keyof typeof ERRORS;

export type ErrorShape = { code: number; message: string; details?: unknown; retryable?: boolean };

export class SysError extends Error {
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, details?: unknown) {
    super(message);
    this.name = "SysError";
    this.code = code;
    this.details = details;
  }

  toShape(): ErrorShape {
    const shape: ErrorShape = { code: this.code, message: this.message };
    if (this.details !== undefined) shape.details = this.details;
    if (ERRORS[this.code].retryable) shape.retryable = true;
    return shape;
  }
}

export function fail(code: ErrorCode, message: string, details?: unknown): never {
  throw new SysError(code, message, details);
}
