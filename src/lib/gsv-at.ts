// The command line to show to people: with the gateway's address, unless it is the default one.

const DEFAULT = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):8787$/;

/** `gsv` is what the reader types to run the program; in a clone, that always works. */
export function cliCommand(origin: string, gsv = "npx gsv"): string {
  return DEFAULT.test(origin) ? gsv : `${gsv} --url ${origin}`;
}

/** A gateway bound to every address cannot be reached under the wildcard address itself. */
export function toDialableUrl(url: string): string {
  return url.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:|$)/, "//localhost");
}
