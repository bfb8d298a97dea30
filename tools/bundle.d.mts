export function bundle(options: { outdir: string; faults?: boolean }): Promise<void>;
