// Pictures of a history, for models that see. They are kept by the kernel under keys; the newest few are held here, since a
// run sends the same ones with every step.

import type { KernelPort } from "../kernel-port.ts";
import type { HistoryRow } from "./model-messages.ts";

const HELD = 32;
/** As many as a model is sent at most. */
const NEWEST = 20;

type Picture = { mimeType: string; key?: string; type?: string; data?: Uint8Array };

export class Pictures {
  readonly #kernel: Pick<KernelPort, "readMedia">;
  readonly #held = new Map<string, Uint8Array>();

  constructor(kernel: Pick<KernelPort, "readMedia">) {
    this.#kernel = kernel;
  }

  /** The rows with what the newest pictures look like. One that is gone is described, or left out of a result. */
  async loaded(rows: readonly HistoryRow[]): Promise<HistoryRow[]> {
    let left = NEWEST;
    const load = async (pictures: readonly Picture[]): Promise<Picture[]> => {
      const found: Picture[] = [];
      for (const picture of pictures) {
        const isWanted = picture.key !== undefined && (picture.type ?? "image") === "image" && left-- > 0;
        const data = isWanted ? await this.#read(picture.key!) : null;
        found.push(data === null ? picture : { ...picture, data });
      }
      return found;
    };
    const seen: HistoryRow[] = [];
    for (const row of rows.toReversed()) seen.push(hasPictures(row) ? await withPictures(row, load) : row);
    return seen.toReversed();
  }

  async #read(key: string): Promise<Uint8Array | null> {
    const data = this.#held.get(key) ?? (await this.#kernel.readMedia(key).catch(() => null));
    if (data === null) return null;
    // The oldest are at the beginning of a map.
    this.#held.delete(key);
    this.#held.set(key, data);
    for (const oldest of this.#held.keys()) if (this.#held.size > HELD) this.#held.delete(oldest);
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
