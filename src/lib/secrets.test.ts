// Paths of secrets, and ways to write them so that nobody sees it.

import { expect, test } from "vitest";
import { namesSecret, SECRETS } from "./secrets.ts";

test.each(SECRETS)("%s", (_, places) => {
  for (const place of places.split(/\s+/)) {
    const written = place.replaceAll("*", "x").replaceAll("?", " ");
    expect([place, namesSecret(`~/${written}`)]).toEqual([place, true]);
    expect([place, namesSecret(`/mnt/home/ann/${written}/below/it`)]).toEqual([place, true]);
  }
});

const SECRET = [
  "~/.ssh",
  "~bob/.ssh/id_ed25519",
  "/home/ann/.SSH/config",
  "../../.ssh/known_hosts",
  "~/x/../.ssh/./config",
  "//home//ann//.ssh//config",
  "~/.ſsh/config",
  "C:\\Users\\Ann\\AppData\\Local\\Google\\Chrome\\User Data\\Default\\Login Data",
  "C:\\Users\\Ann\\.ssh.\\config",
  "c:/users/ann/.ssh /config",
  "c:/users/ann/id_rsa::$DATA",
  "~/Library/Application Support/Google/Chrome/Default/Cookies",
  "~/Library/Keychains/login.keychain-db",
  "~/.mozilla/firefox/abc.default/logins.json",
  "../../../etc/shadow",
  "/private/etc/sudoers",
  "/proc/self/environ",
  "/proc/1234/environ",
  "/proc/self/root/etc/shadow",
  "project/.env.production",
  "deploy/prod.env",
  "server.KEY",
  "~/.gsv/kernel.db",
  "~/.gsv/device/laptop/keys",
  "~/.config/gsv/config.toml",
  // What may become one.
  "~/.s*h/*",
  "~/.*/id",
  "~/.ss*",
  "*/.e*v",
  "~/.config/g*/hosts.yml",
  "*.*em",
  "~/.ssh/*.pub",
  "x".repeat(5000),
];
test.each(SECRET)("%s is one", (path) => expect(namesSecret(path)).toBe(true));

const OPEN = [
  "a",
  "~",
  "/",
  "*",
  "~/*",
  "*.md",
  "src*",
  "*/index.ts",
  "~/.ssh/id_ed25519.pub",
  "project/.env.example",
  "environment.ts",
  "monkey",
  "src/secrets.ts",
  "keys.md",
  ".github/workflows/a.yml",
  "/workspaces/ws_1/.gsv/context.d/a.md",
  "/etc/passwd",
  "/proc/self/status",
];
test.each(OPEN)("%s is none", (path) => expect(namesSecret(path)).toBe(false));
