// Tags from the paths of a call. Paths in the gateway's tree can be resolved here, as it has no symbolic links. Paths on a device
// are judged as written; only the device knows what a link there points to.

import { resolvePath } from "../vfs/path.ts";
import type { Tag, TargetClass } from "./request.ts";

export type PathContext = { cwd: string; home: string; workspace: string | null };

/** No system accepts a longer path. */
export const PATH_CHARS_MAX = 4096;

/** Resolves a path: absolute, or below `~` or `.` on a device; null if it cannot be known. */
export function normalizePath(path: string, target: TargetClass, around: PathContext): string | null {
  if (path.length > PATH_CHARS_MAX) return null;
  if (target === "gsv") {
    try {
      return resolvePath(path, around);
    } catch {
      return null;
    }
  }
  if (path.includes("\0") || path === "") return null;
  const written = path.replaceAll("\\", "/");
  const first = written.slice(0, written.indexOf("/") >>> 0);
  // `~bob` and `C:` are absolute too.
  const top = written.startsWith("/") ? "" : /^~|^[A-Za-z]:/.test(first) ? first : ".";
  const parts: string[] = [];
  for (const part of written.slice(top === "." ? 0 : top.length).split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined && top !== "") return null;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return [top, ...parts].join("/") || "/";
}

/** Tags for where a path is, whatever the call does to it. */
export function locationTags(path: string, target: TargetClass, around: PathContext): Set<Tag> {
  const tags = new Set<Tag>();
  const plain = normalizePath(path, target, around);
  if ((plain ?? path).split(/[/\\]/).some((part) => /^\.[^.]/.test(part) || /^\.\.[^/]/.test(part))) tags.add("hidden-path");
  if (plain === null) return tags.add("outside-cwd").add("outside-home");
  if (target === "device") {
    // The device's home and working directory are not known here: a path written below them counts as inside.
    if (!/^[.~](?:\/|$)/.test(plain)) tags.add("outside-cwd").add("outside-home");
    else if (plain.startsWith("~")) tags.add("outside-cwd");
    return tags;
  }
  if (!isBelow(plain, around.cwd)) tags.add("outside-cwd");
  if (!isBelow(plain, around.home)) tags.add("outside-home");
  return tags;
}

/** A word of a command and the paths that it may contain: `--output=path`, `of=path`, `-opath`, `-ro.path`. */
export function pathsInWord(word: string): Set<string> {
  const isShortOption = /^-[^-]/.test(word);
  const mark = word.search(/[~./]/);
  const paths = [
    word,
    word.slice(word.indexOf("=") + 1),
    ...(isShortOption ? [word.slice(2)] : []),
    ...(isShortOption && mark !== -1 ? [word.slice(mark)] : []),
  ];
  return new Set(paths.filter((path) => path !== ""));
}

/** The tag for where a changed file is on the gateway; null for the rest of the tree. */
export function changedLocationTag(path: string, around: PathContext): Tag | null {
  const plain = normalizePath(path, "gsv", around);
  if (plain === null) return null;
  if (/^\/workspaces\/[^/]+\/./.test(plain) || (around.workspace !== null && plain.startsWith(`${around.workspace}/`)))
    return "in-workspace";
  if (plain.startsWith(around.home === "/" ? "/\0" : `${around.home}/`)) return "in-home";
  if (SCRATCH.test(plain)) return "scratch";
  return /^\/srv\/./.test(plain) ? "shared" : null;
}

const SCRATCH = /^\/tmp\/.|^\/dev\/(?:null|zero|full|u?random|tty|std(?:out|err)|fd\/\d+)$/;

/**
 * Whether a change to this path changes how an agent or a machine behaves later: instructions, skills, policies and accounts on
 * the gateway; start-up files, keys and hooks on any target. Ignores case, as some file systems do.
 */
export function isPolicyBearing(path: string, target: TargetClass, around: PathContext): boolean {
  const plain = caseFoldedPath(path, target, around);
  // An unresolved path may be anything.
  if (plain === null) return true;
  if (target === "gsv" && /^\/(?:sys|etc|proc|usr|dev|boot|root)(?:\/|$)/.test(plain) && !SCRATCH.test(plain)) return true;
  if (target === "device" && (SYSTEM.test(plain) || HIDDEN_WITHOUT_DOT.test(plain) || OF_PROGRAMS.test(plain))) return true;
  const parts = plain.split("/");
  if (parts.some((part) => BEARING_NAMES.has(part))) return true;
  return BEARING_PLACES.some((place) => plain.includes(place));
}

/** The path without case and letter forms, as some file systems compare names. */
export function caseFoldedPath(path: string, target: TargetClass, around: PathContext): string | null {
  const plain = normalizePath(path, target, around);
  // ASCII, the usual case, has only one form.
  return plain !== null && /[^\0-\x7f]/.test(plain) ? plain.normalize("NFKC").toLowerCase() : (plain?.toLowerCase() ?? null);
}

const SYSTEM =
  /^(?:\/private)?\/(?:etc|usr|bin|sbin|lib\w*|boot|sys|proc|dev|root|system|library|run|var\/(?:lib|run|spool)|opt|applications)(?:\/|$)|^(?:[a-z]:|\/mnt\/[a-z])\/(?:windows|program)/;
/** What macOS and Windows keep where Linux uses hidden files, below a home or a working directory that may be one. */
const HIDDEN_WITHOUT_DOT = /^(?:\.|~[^/]*|(?:[a-z]:|\/mnt\/[a-z])?\/users\/[^/]+)\/(?:library|appdata|applications)(?:\/|$)/;
/** Where programs and their settings are, wherever they are installed; PowerShell loads modules for commands that it does not know. */
const OF_PROGRAMS = /\/(?:s?bin|etc|windowspowershell|documents\/powershell)\//;

const BEARING_NAMES: ReadonlySet<string> = new Set(
  `context.d skills.d constitution.md .gsv approval.json approval.jsonc
   .ssh .gnupg .aws .azure .kube .docker .netrc .npmrc .pypirc .git-credentials authorized_keys
   .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc
   .login .inputrc .xinitrc .xprofile .xsession .vimrc .exrc .emacs .tmux.conf .screenrc .wgetrc .curlrc .gitconfig .gitmodules
   .envrc .env .direnvrc .pam_environment .config launchagents launchdaemons autostart crontab cron.d
   .vscode .cursor .idea .claude .codex .mcp.json mcp.json agents.md claude.md gemini.md .cursorrules .windsurfrules
   .husky .githooks .pre-commit-config.yaml .github .gitlab-ci.yml`.split(/\s+/),
);
const BEARING_PLACES = ["/.git/", "/.local/bin/", "/.local/share/applications/", "/library/preferences/", "/programs/startup/"];

export function isBelow(path: string, top: string): boolean {
  return path === top || top === "/" || path.startsWith(`${top}/`);
}
