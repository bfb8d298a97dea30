// An origin in the options of a host.

/** Null unless the text is the origin of a web page, such as https://gsv.example.com. */
export function parseOrigin(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" ? url.origin : null;
}
