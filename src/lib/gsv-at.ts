// How people are told to call the command line: with the gateway's address, unless it is the one they get without.

const DEFAULT = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):8787$/;

export function gsvAt(origin: string): string {
  return DEFAULT.test(origin) ? "npx gsv" : `npx gsv --url ${origin}`;
}

/** Bound to every address, a gateway answers to each of them but not to the name of all. */
export function dialable(url: string): string {
  return url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, "//localhost");
}
