// Images and files of a message. Images are read from the gateway when they are shown; nothing is fetched from elsewhere.

import { useEffect, useState } from "preact/hooks";
import { call, describeError } from "../state/call.ts";
import { Icon } from "../ui/icon.tsx";
import type { Media } from "./message-content.ts";
import "./media.css";

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const CACHED_MAX = 40;
const cache = new Map<string, Promise<string>>();

export function MediaList({ pid, media }: { pid: string; media: readonly Media[] }) {
  return (
    <ul class="media">
      {media.map((one, at) => (
        <li key={one.key ?? at}>
          {one.key !== null && IMAGE.test(one.mimeType) ? <ImageView pid={pid} media={one} /> : <FileLabel media={one} />}
        </li>
      ))}
    </ul>
  );
}

function ImageView({ pid, media }: { pid: string; media: Media }) {
  const [url, setUrl] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const name = media.filename ?? "A picture";
  useEffect(() => {
    let isMounted = true;
    readImageDataUrl(pid, media.key!).then(
      (found) => isMounted && setUrl(found),
      (error: unknown) => isMounted && setProblem(describeError(error)),
    );
    return () => {
      isMounted = false;
    };
  }, [pid, media.key]);
  if (problem !== null) return <span class="media-file">{`${name}: ${problem}`}</span>;
  if (url === null || !url.startsWith(`data:${media.mimeType};base64,`))
    return <span class="media-wait" role="img" aria-label={`${name}, loading`} />;
  return <img class="media-picture" src={url} alt={name} />;
}

export function FileLabel({ media }: { media: Pick<Media, "filename" | "mimeType" | "size" | "url"> }) {
  return (
    <span class="media-file">
      <Icon name="pieces" />
      <span>{media.filename ?? media.url ?? media.mimeType}</span>
      {media.size !== null && <span class="soft">{formatSize(media.size)}</span>}
    </span>
  );
}

export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function readImageDataUrl(pid: string, key: string): Promise<string> {
  const id = `${pid} ${key}`;
  const cached = cache.get(id);
  if (cached !== undefined) return cached;
  const reading = call("proc.media.read", { pid, key }).then(({ dataUrl }) => dataUrl);
  cache.set(id, reading);
  reading.catch(() => cache.delete(id));
  for (const oldest of cache.keys()) if (cache.size > CACHED_MAX) cache.delete(oldest);
  return reading;
}
