export const ROOT: string;
export function prepare(options: { dev: boolean }): Promise<void>;
export function handOver(args: readonly string[]): void;
