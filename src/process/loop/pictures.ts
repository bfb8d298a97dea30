// Pictures of a history, for models that see. The kernel stores them under keys; this file caches the newest few, because a run
// sends the same ones with every step.

import type { KernelPort } from "../kernel-port.ts";
import type { HistoryRow } from "./model-messages.ts";

const CACHE_MAX = 32;
/** A model is sent at most this many. */
const PICTURES_MAX = 20;

type Picture = { mimeType: string; key?: string; type?: string; data?: Uint8Array };

export class Pictures {
  readonly #kernel: Pick<KernelPort, "readMedia">;
  readonly #cache = new Map<string, Uint8Array>();

  constructor(kernel: Pick<KernelPort, "readMedia">) {
    this.#kernel = kernel;
  }

  /** The rows with the data of the newest pictures. A missing picture is described, or left out of a result. */
  async load(rows: readonly HistoryRow[]): Promise<readonly HistoryRow[]> {
    if (!rows.some(hasPictures)) return rows;
    let remaining = PICTURES_MAX;
    const load = async (pictures: readonly Picture[]): Promise<Picture[]> => {
      const found: Picture[] = [];
      for (const picture of pictures) {
        const isWanted = picture.key !== undefined && (picture.type ?? "image") === "image" && remaining-- > 0;
        const data = isWanted ? await this.#read(picture.key!) : null;
        found.push(data === null ? picture : { ...picture, data });
      }
      return found;
    };
    const loaded: HistoryRow[] = [];
    for (const row of rows.toReversed()) loaded.push(hasPictures(row) ? await withPictures(row, load) : row);
    return loaded.toReversed();
  }

  async #read(key: string): Promise<Uint8Array | null> {
    const data = this.#cache.get(key) ?? (await this.#kernel.readMedia(key).catch(() => null));
    if (data === null) return null;
    // A map iterates in insertion order, so the first keys are the oldest.
    this.#cache.delete(key);
    this.#cache.set(key, data);
    for (const oldest of this.#cache.keys()) if (this.#cache.size > CACHE_MAX) this.#cache.delete(oldest);
    return data;
  }
}

function hasPictures(row: HistoryRow): boolean {
  return (row.role === "user" && row.content.media !== undefined) || (row.role === "toolResult" && row.content.images !== undefined);
}

type Load = (pictures: readonly Picture[]) => Promise<Picture[]>;

async function withPictures(row: HistoryRow, load: Load): Promise<HistoryRow> {
  if (row.role === "user" && row.content.media !== undefined) {
    const media = await load(row.content.media);
    return { ...row, content: { ...row.content, media } } as HistoryRow;
  }
  if (row.role === "toolResult" && row.content.images !== undefined) {
    const images = (await load(row.content.images)).filter(({ data }) => data !== undefined);
    return { ...row, content: { ...row.content, images } } as HistoryRow;
  }
  return row;
}
