// Limits of one script. Time in which it waits for a person does not count.

/** From its start to its end. */
export const WALL_MS = 60_000;
/** Of computing, on hosts that can measure it. */
export const CPU_MS = 20_000;
/**
 * Steps of the engine between two waits, on hosts that can neither measure time nor end a thread: about half a second. A metered engine
 * (tools/meter-wasm.ts) counts them.
 */
export const STEPS_PER_SLICE = 60_000_000;
export const MEMORY_BYTES = 32 * 1024 * 1024;
export const STACK_BYTES = 256 * 1024;
/** The result, and the arguments of a call, as JSON. */
export const VALUE_CHARS = 1024 * 1024;
export const SOURCE_CHARS = 256 * 1024;
export const LOG_LINES = 1_000;
export const LOG_CHARS = 200_000;
/** The message of the error that ended the script, and its stack trace. */
export const ERROR_CHARS = 20_000;
/** What a script reports when it ends, without its result: a character of a log takes at most six. */
export const REPORT_CHARS = 6 * (LOG_CHARS + LOG_LINES + 3 * ERROR_CHARS);
/** Calls of one script, how many of them run at the same time, and the length of all that have no answer. */
export const CALLS = 1_000;
export const CALLS_AT_ONCE = 8;
export const OPEN_CALLS_CHARS = 8 * VALUE_CHARS;
export const TIMERS = 1_000;
/** How long a call may run before the script gets an error. */
export const CALL_MS = 55_000;
/** Of a compressed snapshot. */
export const SNAPSHOT_BYTES = 16 * 1024 * 1024;

/** What tests lower. */
export type EngineLimits = { wallMs: number; cpuMs: number; stepsPerSlice: number };
export const ENGINE_LIMITS: EngineLimits = { wallMs: WALL_MS, cpuMs: CPU_MS, stepsPerSlice: STEPS_PER_SLICE };
