// Pictures and files of a message. Pictures are fetched from the gateway when they are shown, and nothing is fetched from
// anywhere else.

import { useEffect, useState } from "preact/hooks";
import { call, describeError } from "../state/call.ts";
import { Icon } from "../ui/icon.tsx";
import type { Media } from "./content.ts";
import "./media.css";

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
const HELD = 40;
const fetched = new Map<string, Promise<string>>();

export function MediaList({ pid, media }: { pid: string; media: readonly Media[] }) {
  return (
    <ul class="media">
      {media.map((one, at) => (
        <li key={one.key ?? at}>
          {one.key !== null && PICTURE.test(one.mimeType) ? <Picture pid={pid} media={one} /> : <File media={one} />}
        </li>
      ))}
    </ul>
  );
}

function Picture({ pid, media }: { pid: string; media: Media }) {
  const [url, setUrl] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const name = media.filename ?? "A picture";
  useEffect(() => {
    let isHere = true;
    read(pid, media.key!).then(
      (found) => isHere && setUrl(found),
      (error: unknown) => isHere && setProblem(describeError(error)),
    );
    return () => {
      isHere = false;
    };
  }, [pid, media.key]);
  if (problem !== null) return <span class="media-file">{`${name}: ${problem}`}</span>;
  if (url === null || !url.startsWith(`data:${media.mimeType};base64,`))
    return <span class="media-wait" role="img" aria-label={`${name}, loading`} />;
  return <img class="media-picture" src={url} alt={name} />;
}

export function File({ media }: { media: Pick<Media, "filename" | "mimeType" | "size" | "url"> }) {
  return (
    <span class="media-file">
      <Icon name="pieces" />
      <span>{media.filename ?? media.url ?? media.mimeType}</span>
      {media.size !== null && <span class="soft">{sizeText(media.size)}</span>}
    </span>
  );
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function read(pid: string, key: string): Promise<string> {
  const id = `${pid} ${key}`;
  const known = fetched.get(id);
  if (known !== undefined) return known;
  const reading = call("proc.media.read", { pid, key }).then(({ dataUrl }) => dataUrl);
  fetched.set(id, reading);
  reading.catch(() => fetched.delete(id));
  for (const oldest of fetched.keys()) if (fetched.size > HELD) fetched.delete(oldest);
  return reading;
}
