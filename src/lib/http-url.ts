// Whether a text is an absolute http or https URL without credentials.

export function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}
