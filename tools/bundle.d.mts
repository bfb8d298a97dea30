export function bundle(options: { outdir: string; faults?: boolean; node?: string | null }): Promise<void>;
