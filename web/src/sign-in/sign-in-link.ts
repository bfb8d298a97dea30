// The link in the QR code with which a person signs in on another device: https://gateway/#sign-in=NAME.CODE. A fragment is sent to no
// server. main.tsx takes it out of the address before anything else happens.

export type SignInLink = { username: string; code: string };

export function formatSignInLink(origin: string, { username, code }: SignInLink): string {
  return `${origin}/#sign-in=${encodeURIComponent(username)}.${code}`;
}

/** `fragment` begins with #sign-in=. Null if the rest is not of the form. */
export function parseSignInLink(fragment: string): SignInLink | null {
  const [, name, code] = /^#sign-in=([^#]{1,256})\.([\w-]{1,100})$/.exec(fragment) ?? [];
  if (name === undefined || code === undefined) return null;
  try {
    return { username: decodeURIComponent(name), code };
  } catch {
    return null;
  }
}
