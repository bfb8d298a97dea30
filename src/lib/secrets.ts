// Places on a machine that hold secrets, recognized by their paths. One table for all uses: approval asks before an agent reads
// one, fs.search skips them, and the guide on approvals prints it.

/** Names of files and directories, anywhere, with everything below them; `*` matches any part of one name. */
export const SECRETS: readonly (readonly [holds: string, places: string])[] = [
  ["SSH and GnuPG keys", ".ssh .gnupg id_rsa* id_dsa* id_ecdsa* id_ed25519* id_*_sk .ssh-agent etc/ssh/ssh_host_*_key"],
  [
    "cloud and cluster credentials",
    `.aws .azure .config/gcloud appdata/roaming/gcloud .kube .docker/config.json .oci .config/doctl .config/hcloud .config/rclone
     .terraform.d/credentials.tfrc.json .terraformrc .vault-token .boto .s3cfg .config/op .fly .config/flyctl .minikube kubeconfig etc/kubernetes
     k3s.yaml *.tfstate *.tfvars *.tfvars.json .pulumi .wrangler/config .config/.wrangler library/preferences/.wrangler run/secrets`,
  ],
  [
    "tool and registry credentials",
    `.netrc _netrc .npmrc .yarnrc.yml .pypirc .git-credentials .config/git/credentials .config/gh .config/hub .config/glab-cli .gem/credentials
     .cargo/credentials .cargo/credentials.toml .m2/settings.xml .gradle/gradle.properties .composer/auth.json .config/composer/auth.json
     .pgpass .my.cnf .mylogin.cnf .rediscli_auth .htpasswd .claude/.credentials.json .codex/auth.json .config/github-copilot
     .cache/huggingface/token .huggingface/token .subversion/auth .config/sops .wgetrc .curlrc
     .claude.json .gemini opencode/auth.json containers/auth.json .config/stripe .config/ngrok .ngrok2 application?support/ngrok ngrok.yml`,
  ],
  [
    "browser profiles",
    `.mozilla firefox/profiles .config/google-chrome* .config/chromium .config/bravesoftware .config/microsoft-edge* .config/vivaldi .config/opera
     google/chrome* chromium/user?data bravesoftware microsoft/edge* microsoft?edge* library/safari library/cookies library/containers/com.apple.safari
     cookies.sqlite logins.json key4.db login?data .var/app snap/firefox snap/chromium snap/brave snap/opera snap/vivaldi`,
  ],
  [
    "mail, messages and wallets",
    `.thunderbird library/thunderbird appdata/roaming/thunderbird snap/thunderbird .config/signal application?support/signal appdata/roaming/signal
     snap/signal-desktop .local/share/telegramdesktop application?support/telegram?desktop appdata/roaming/telegram?desktop snap/telegram-desktop
     .bitcoin .litecoin .dogecoin .ethereum .electrum .bitmonero .exodus .config/exodus .config/solana wallet.dat application?support/bitcoin
     application?support/exodus application?support/ethereum appdata/roaming/bitcoin appdata/roaming/electrum appdata/roaming/exodus
     appdata/roaming/ethereum`,
  ],
  [
    "password managers and keychains",
    `.password-store .local/share/keyrings .gnome2/keyrings .kde/share/apps/kwallet .local/share/kwalletd library/keychains *.kdbx *.kdb
     *.keychain *.keychain-db .config/keepassxc .config/bitwarden* bitwarden* 1password* .1password .lastpass .config/1password
     appdata/*/microsoft/credentials appdata/*/microsoft/vault appdata/*/microsoft/protect windows/system32/config`,
  ],
  [
    "command histories",
    `.bash_history .zsh_history .zhistory .history .sh_history .ksh_history fish_history .python_history .node_repl_history .psql_history
     .mysql_history .sqlite_history .rediscli_history .lesshst .viminfo .zsh_sessions consolehost_history.txt .local/share/fish`,
  ],
  [
    "program settings that contain secrets",
    ".env .env.* *.env .envrc .dev.vars .secrets secrets.yml secrets.yaml secrets.json secrets.toml credentials.json",
  ],
  ["keys, and certificates with their keys", "*.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.p8 *.asc *.gpg *.ovpn"],
  [
    "system accounts, and the environment and memory of processes",
    `etc/shadow* etc/gshadow* etc/sudoers etc/sudoers.d etc/master.passwd etc/krb5.keytab etc/wireguard etc/networkmanager/system-connections
     proc/*/environ proc/*/mem proc/*/fd proc/*/map_files proc/*/task/*/environ proc/*/task/*/mem proc/*/task/*/fd proc/kcore
     .xauthority .iceauthority chap-secrets pap-secrets`,
  ],
  [
    "whole disks and a machine's memory",
    `dev/sda* dev/sdb* dev/sdc* dev/sdd* dev/sde* dev/sdf* dev/nvme* dev/vda* dev/vdb* dev/xvd* dev/hda* dev/mmcblk* dev/dm-* dev/mapper
     dev/disk dev/disk0* dev/disk1* dev/disk2* dev/disk3* dev/rdisk* dev/block dev/mem dev/kmem dev/port physicaldrive* harddiskvolume*`,
  ],
  ["GSV's own files on a machine", ".gsv .config/gsv application?support/gsv appdata/roaming/gsv"],
];

/** Names that match but hold no secret: public keys, examples, and context files for agents. */
const OPEN = /^(?:[^/]*\.pub|\.env\.(?:example|sample|template|dist|defaults))$/;
const AGENT_CONTEXT = /(?<=^|\/)\.gsv(?=\/(?:context|skills)\.d(?:\/|$))/g;

const PLACES = SECRETS.flatMap(([, places]) => places.split(/\s+/)).map((place) => place.split("/"));
const PATTERN = new RegExp(`(?:^|/)(?:${PLACES.map((names) => names.map(toRegExpSource).join("/")).join("|")})(?:/|$)`);

/** Longer than any path: treated as a secret, because nobody can tell. */
const CHARS_MAX = 4096;
const STARRED_PARTS_MAX = 32;

/**
 * Whether a path, as written, is such a place or lies inside one. `*` stands for an unknown part of a name: a name that is partly
 * known counts if it could be a secret's, a name that is wholly unknown does not.
 */
export function namesSecret(path: string): boolean {
  if (path.length > CHARS_MAX) return true;
  const parts = plainParts(path);
  const last = parts.at(-1) ?? "";
  // A name with an unknown part may stand for several files.
  if (!last.includes("*") && OPEN.test(last)) return false;
  if (PATTERN.test(parts.join("/").replace(AGENT_CONTEXT, "_"))) return true;
  if (!parts.some((part) => part.includes("*") || SHORT.test(part))) return false;
  return parts.length > STARRED_PARTS_MAX || PLACES.some((names) => parts.some((_, at) => mayMatchNames(parts, at, names)));
}

/**
 * Normalizes a path as file systems may resolve it: ignores case, accepts either slash, and drops what Windows drops at the end
 * of a name or after a colon. Also drops the suffix of a backup copy: it holds the same content.
 */
function plainParts(path: string): string[] {
  const folded = (/[^\0-\x7f]/.test(path) ? path.normalize("NFKC") : path).toLowerCase();
  const parts: string[] = [];
  for (const part of folded.split(/[/\\]/)) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(withoutCopySuffix(withoutTrailingDots(part.replace(STREAM, ""))));
  }
  return parts;
}

/** `name::$DATA`, `name:$I30:$INDEX_ALLOCATION`. */
const STREAM = /(?::[^:]{0,64})?:\$[a-z_]{1,32}$/;
const COPY_SUFFIX = /(?<=.)(?:\.~\d{1,8}~|~|\.(?:bak|backup|old|orig|save|copy|tmp|swp|\d{1,8}))$/;
const COPY_SUFFIXES_MAX = 3;

function withoutCopySuffix(part: string): string {
  let name = part;
  for (let count = COPY_SUFFIXES_MAX; count > 0 && COPY_SUFFIX.test(name); count--) name = name.replace(COPY_SUFFIX, "");
  return name;
}

/** The short name that Windows also gives to names that are longer than eight letters or begin with a dot: `SSH~1`, `ID_ED2~1`. */
const SHORT = /^([^~]{1,6})~\d{1,4}(?:\.[^.]{0,3})?$/;

function shortStem(name: string): string {
  return name
    .replace(/^\.+/, "")
    .replace(/\.[^.]*$/, "")
    .replace(/[. ]/g, "")
    .slice(0, 6);
}

function withoutTrailingDots(part: string): string {
  let end = part.length;
  while (end > 0 && (part[end - 1] === "." || part[end - 1] === " ")) end--;
  return end === 0 ? part : part.slice(0, end);
}

function mayMatchNames(parts: readonly string[], from: number, names: readonly string[]): boolean {
  return from + names.length <= parts.length && names.every((name, at) => mayMatchName(parts[from + at]!, name, names.length > 1));
}

/** If other names of the path match too, less of this one must be known. */
function mayMatchName(part: string, name: string, isOneOfMany: boolean): boolean {
  if (name === "*") return true;
  const [start, end] = fixedEnds(part);
  if (end === null) return matchesName(part, name) || SHORT.exec(part)?.[1] === shortStem(name);
  // Nothing of it is known; and a name that begins with an unknown part does not begin with a dot.
  if (start.length + end.length < (isOneOfMany || start.startsWith(".") ? 1 : 2) || (start === "" && name.startsWith("."))) return false;
  const [nameStart, nameEnd] = fixedEnds(name);
  if (nameEnd === null) return name.startsWith(start) && name.endsWith(end) && name.length >= start.length + end.length;
  // `x*` may have any ending.
  const isLike = (one: string, other: string, how: "startsWith" | "endsWith") =>
    other === "" || (one !== "" && isEitherAffix(one, other, how));
  return isLike(start, nameStart, "startsWith") && isLike(end, nameEnd, "endsWith");
}

function matchesName(part: string, name: string): boolean {
  const [start, end] = fixedEnds(name);
  return end === null ? part === name : part.length >= start.length + end.length && part.startsWith(start) && part.endsWith(end);
}

function isEitherAffix(one: string, other: string, how: "startsWith" | "endsWith"): boolean {
  return one[how](other) || other[how](one);
}

function fixedEnds(name: string): [start: string, end: string | null] {
  const first = name.indexOf("*");
  return first === -1 ? [name, null] : [name.slice(0, first), name.slice(name.lastIndexOf("*") + 1)];
}

function toRegExpSource(name: string): string {
  return name.replace(/[.+]/g, "\\$&").replaceAll("*", "[^/]*").replaceAll("?", "[^/]");
}
