export function withLock<T>(file: string, work: () => Promise<T>, onWait?: (pid: number | null) => void): Promise<T>;
export function isAlive(pid: number): boolean;
