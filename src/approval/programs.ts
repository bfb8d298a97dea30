// What programs do, as far as their names tell. A program that is not listed can do anything: commands.ts marks it opaque.

import type { Tag } from "./request.ts";

const DELETES: Tag[] = ["deletes", "destructive", "mutating"];
const DESTROYS: Tag[] = ["destructive", "mutating"];
const CONNECTS: Tag[] = ["connects", "network"];
const ELEVATES: Tag[] = ["elevates", "privileged"];

/** The first group is harmless; what the gateway's own commands in it change passes the gate as calls of their own. */
const GROUPS: readonly (readonly [tags: readonly Tag[], names: string])[] = [
  [
    [],
    `: [ [[ alias arch b2sum base32 base64 basename bg break cal cat cd cksum clear cmp codemode column comm continue cut date declare df
     diff dir dirname dirs disown du echo egrep exit expand export expr factor false fg fgrep file fmt fold free getopts grep groups head
     help hexdump history hostname html-to-markdown id info jobs join jq last let local locale look ls lsblk lscpu lsof man mapfile md5sum
     mesg nl nproc notify numfmt od paste pgrep popd pr printenv printf proc ps pushd pwd read readarray readlink readonly realpath return
     rev rg seq set sha1sum sha224sum sha256sum sha384sum sha512sum shasum shift shopt shuf skills sleep sort stat strings stty sum tac
     tail test tput tr tree true tsort tty type typeset umask uname unalias unexpand uniq unset uptime w wait wc whatis whereis which who
     whoami wiki xxd yes zcat zgrep`,
  ],
  [["mutating"], "cp csplit gunzip gzip ln mkdir mkfifo mktemp patch split sponge tee touch bzip2 bunzip2 xz unxz zip unzip zstd"],
  [DELETES, "rm rmdir unlink shred srm wipe wipefs del erase rd fdisk gdisk parted mkswap mke2fs newfs diskutil"],
  [DESTROYS, "dd mv chmod chown chgrp truncate setfacl chattr install rename kill killall pkill"],
  [["destructive", ...ELEVATES], "reboot shutdown halt poweroff init telinit"],
  [
    CONNECTS,
    `curl wget ssh scp sftp nc ncat netcat socat telnet ftp lftp tftp rsync ping ping6 dig nslookup host drill traceroute tracepath mtr
     whois nmap mail mailx sendmail mutt aria2c http https xh w3m lynx links elinks rclone wscat websocat mosh autossh smbclient`,
  ],
  [
    [...CONNECTS, "opaque", "mutating"],
    `npm npx yarn pnpm bun bunx pip pip3 pipx uv uvx poetry cargo go gem bundle composer brew mvn gradle docker podman nerdctl kubectl helm
     terraform ansible ansible-playbook vagrant gh glab aws gcloud az psql mysql mongo mongosh redis-cli openssl`,
  ],
  [[...CONNECTS, ...ELEVATES, "opaque"], "apt apt-get aptitude dpkg dnf yum rpm zypper pacman apk snap flatpak port"],
  [
    ELEVATES,
    `passwd chpasswd useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup gpasswd visudo vipw mount umount
     insmod rmmod modprobe iptables ip6tables nft ufw firewall-cmd sysctl setcap swapon swapoff losetup cryptsetup hostnamectl timedatectl
     loginctl dscl csrutil spctl setenforce`,
  ],
  [[...ELEVATES, "policy-bearing"], "systemctl service launchctl chsh crontab at batch schtasks defaults"],
  [["policy-bearing", "mutating"], "ssh-keygen ssh-add ssh-copy-id gpg gpg2"],
];

const TAGS_OF: ReadonlyMap<string, readonly Tag[]> = new Map(
  GROUPS.flatMap(([tags, names]) => names.split(/\s+/).map((name): [string, readonly Tag[]] => [name, tags])),
);

/** How to separate a wrapper's own words from the command that it runs. */
export type Wrapper = {
  /** Letters of options without a value, and of options with one. */
  flags: string;
  valued: string;
  /** Long options that do not change what runs. */
  long?: RegExp;
  /** Number of its own words after the options. */
  operands?: number;
  /** The option among `valued` whose value is a file that it writes. */
  writes?: string;
};

/** Wrappers whose options are known; with any other option, the command they run is not. */
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  env: { flags: "i0v", valued: "uC", long: /^--(?:ignore-environment|null|unset=\w+)$/ },
  command: { flags: "p", valued: "" },
  builtin: { flags: "", valued: "" },
  exec: { flags: "cl", valued: "a" },
  nohup: { flags: "", valued: "" },
  nice: { flags: "", valued: "n", long: /^--adjustment=-?\d+$|^-\d+$/ },
  ionice: { flags: "t", valued: "cn" },
  timeout: { flags: "v", valued: "sk", long: /^--(?:foreground|preserve-status|verbose|signal=\w+|kill-after=[\w.]+)$/, operands: 1 },
  time: { flags: "pvaq", valued: "fo", writes: "o" },
  stdbuf: { flags: "", valued: "ioe" },
  setsid: { flags: "cfw", valued: "" },
  xargs: {
    flags: "0rtxop",
    valued: "adEILnPs",
    long: /^--(?:null|no-run-if-empty|verbose|max-(?:args|lines|procs|chars)=\d+|delimiter=\S+)$/,
  },
  busybox: { flags: "", valued: "" },
  toybox: { flags: "", valued: "" },
};

export function findWrapper(name: string): Wrapper | undefined {
  return Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
}

/** Programs that run others in their own ways, here or elsewhere. On macOS arch does; alone it only prints. */
const CARRIERS: ReadonlyMap<string, readonly Tag[]> = new Map([
  ...tagEntries(
    "sudo doas su pkexec runuser sudoedit gosu su-exec chroot nsenter unshare setpriv capsh systemd-run firejail bwrap",
    ELEVATES,
  ),
  ...tagEntries("ssh mosh autossh torsocks torify proxychains proxychains4 rsh", CONNECTS),
  ...tagEntries(
    "parallel watch flock script strace ltrace gdb coproc chrt taskset unbuffer rlwrap setarch faketime entr caffeinate arch",
    [],
  ),
]);

export function carrierTags(name: string, hasArguments: boolean): readonly Tag[] | undefined {
  return name === "arch" && !hasArguments ? undefined : CARRIERS.get(name);
}

function tagEntries(names: string, tags: readonly Tag[]): [string, readonly Tag[]][] {
  return names.split(/\s+/).map((name) => [name, tags]);
}

/** Undefined for an unknown program. */
export function programTags(name: string): readonly Tag[] | undefined {
  if (/^mkfs(?:\.|$)/.test(name)) return DELETES;
  return TAGS_OF.get(name);
}

export const SHELLS: ReadonlySet<string> = new Set("sh bash dash ash zsh ksh mksh rbash fish csh tcsh".split(" "));

/** Variables that change the meaning of other names or run something themselves. */
export const STEERING =
  /^(?:PATH|HOME|CDPATH|ENV|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|LD_.*|DYLD_.*|SHELL|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|GIT_.*|NODE_OPTIONS|PYTHON.*|PERL5.*|RUBY.*|JAVA_TOOL_OPTIONS|LESS(?:OPEN|CLOSE)|TAR_OPTIONS|RSYNC_RSH|GREP_OPTIONS|RIPGREP_CONFIG_PATH|AWK(?:LIB)?PATH|XDG_.*|(?:SSH|SUDO|GIT)_ASKPASS|GCONV_PATH|LOCPATH|NLSPATH|TERMINFO|HISTFILE|INPUTRC|BASH_XTRACEFD|MANOPT|MANROFFOPT|JQ_.*|IFS)$/;

const GIT: ReadonlyMap<string, readonly Tag[]> = new Map([
  ...tagEntries(
    "status log diff show blame shortlog describe rev-parse ls-files ls-tree cat-file rev-list reflog grep help version var",
    [],
  ),
  ...tagEntries("add commit init tag branch mv merge cherry-pick revert stash notes apply am worktree switch", ["mutating"]),
  ...tagEntries("rm clean reset checkout restore rebase gc prune filter-branch filter-repo update-ref", DELETES),
  ...tagEntries("clone fetch pull push ls-remote remote submodule send-email archive request-pull", [...CONNECTS, "mutating"]),
  ...tagEntries("config", ["policy-bearing", "mutating"]),
]);

/** Of the gateway's shell. What they change passes the gate as calls of their own, which need that a person was told of it here. */
const MCP: ReadonlyMap<string, readonly Tag[]> = new Map([
  ...tagEntries("list status tools describe search codemode changes help --help", []),
  ...tagEntries("call resources read prompts prompt", CONNECTS),
  ...tagEntries("add refresh", [...CONNECTS, "policy-bearing"]),
  ...tagEntries("remove accept", ["policy-bearing"]),
]);
const OAUTH: ReadonlyMap<string, readonly Tag[]> = new Map([
  ...tagEntries("list help --help", []),
  ...tagEntries("start forget", ["policy-bearing"]),
]);

const SCHED: ReadonlyMap<string, readonly Tag[]> = new Map([
  ...tagEntries("list ls show history preview help --help", []),
  ...tagEntries("add enable disable remove run", ["policy-bearing"]),
]);
const SIGNAL: ReadonlyMap<string, readonly Tag[]> = new Map([
  ...tagEntries("list unwatch help --help", []),
  ...tagEntries("watch", ["policy-bearing"]),
]);

type Words = readonly (string | null)[];

/** Tags that depend on the arguments of a program; undefined if its name alone decides. */
export function optionTags(name: string, words: Words, mayHoldOption: boolean): readonly Tag[] | undefined {
  const rule = Object.hasOwn(BY_OPTION, name) ? BY_OPTION[name] : undefined;
  if (rule === undefined) return undefined;
  const tags = rule(words);
  // Awk accepts no options after its program.
  return mayHoldOption && !name.endsWith("awk") ? [...(tags ?? programTags(name) ?? []), "opaque"] : tags;
}

const BY_OPTION: Readonly<Record<string, (words: Words) => readonly Tag[] | undefined>> = {
  git: gitTags,
  mcp: (words) => subcommandTags(MCP, words) ?? ["opaque", ...CONNECTS, "policy-bearing"],
  oauth: (words) => subcommandTags(OAUTH, words) ?? ["opaque", "policy-bearing"],
  sched: (words) => subcommandTags(SCHED, words) ?? ["opaque", "policy-bearing"],
  signal: (words) => subcommandTags(SIGNAL, words) ?? ["opaque", "policy-bearing"],
  crontab: (words) => (words.length === 1 && words[0] === "-l" ? [] : undefined),
  sed: sedTags,
  gsed: sedTags,
  awk: awkTags,
  gawk: awkTags,
  mawk: awkTags,
  nawk: awkTags,
  tar: tarTags,
  bsdtar: tarTags,
  gtar: tarTags,
  cp: (words) => (hasOption(words, /^-\w*[rRa]/, "recursive", "archive") ? ["mutating", "unknown-path"] : undefined),
  date: (words) => (hasOption(words, /^-[a-zA-Z]*s/, "set") ? ELEVATES : undefined),
  history: (words) => (hasMatch(words, /^-[a-z]*[anrw]/) ? ["mutating"] : undefined),
  hostname: (words) => (hasMatch(words, /^[^-]/) ? ELEVATES : undefined),
  jobs: (words) => (hasMatch(words, /^-[a-z]*x/) ? ["opaque"] : undefined),
  man: (words) => (hasOption(words, /^-[a-zA-Z]*[PHCK]/, "pager", "html", "config-file") ? ["opaque"] : undefined),
  mapfile: (words) => (hasMatch(words, /^-[a-zA-Z]*C/) ? ["opaque"] : undefined),
  readarray: (words) => (hasMatch(words, /^-[a-zA-Z]*C/) ? ["opaque"] : undefined),
  rg: (words) => (hasOption(words, null, "pre", "hostname-bin") ? ["opaque"] : undefined),
  shuf: (words) => (hasOption(words, /^-[a-z]*o/, "output") ? ["mutating"] : undefined),
  sort: sortTags,
  split: (words) => (hasOption(words, null, "filter") ? ["mutating", "opaque"] : undefined),
  tree: (words) => (hasMatch(words, /^-[a-zA-Z]*o/) ? ["mutating"] : undefined),
  uniq: (words) => (countOperands(words) > 1 ? ["mutating"] : undefined),
  xxd: (words) => (countOperands(words) > 1 ? ["mutating"] : undefined),
};

function hasMatch(words: Words, option: RegExp): boolean {
  return words.some((word) => word !== null && option.test(word));
}

function hasOption(words: Words, short: RegExp | null, ...long: readonly string[]): boolean {
  return words.some((word) => word !== null && (short?.test(word) || long.some((name) => isLongOption(word, name))));
}

/** GNU programs accept any beginning of a long option that is not ambiguous; here an ambiguous one counts too. */
function isLongOption(word: string, name: string): boolean {
  const given = word.split("=", 1)[0]!;
  return given.length > 2 && `--${name}`.startsWith(given);
}

function countOperands(words: Words): number {
  return words.filter((word) => word === null || !word.startsWith("-")).length;
}

/** The first word alone decides. Undefined for one that is not known in advance. */
function subcommandTags(known: ReadonlyMap<string, readonly Tag[]>, [first = "list"]: Words): readonly Tag[] | undefined {
  return first === null ? undefined : known.get(first);
}

/** What runs programs, or writes a file that the option names. A template of a repository contains hooks. */
const GIT_RUNNING = ["output", "ext-diff", "exec", "upload-pack", "receive-pack", "open-files-in-pager", "template"];

/** An option before git's command can make it run anything, and so can options of some of its commands. */
function gitTags([first = "help", ...rest]: Words): readonly Tag[] {
  const tags = first === null ? undefined : GIT.get(first);
  if (tags === undefined || hasOption(rest, /^-O/, ...GIT_RUNNING)) return ["opaque", "mutating"];
  const isForced = hasOption(rest, /^(?:drop|clear|remove|-[a-zA-Z]*[dDf])/, "force", "delete", "hard");
  return isForced && tags.length > 0 ? [...tags, "destructive"] : tags;
}

function sortTags(words: Words): readonly Tag[] | undefined {
  if (hasOption(words, null, "compress-program")) return ["mutating", "opaque"];
  return hasOption(words, /^-[a-zA-Z]*o/, "output") ? ["mutating"] : undefined;
}

const TAR_RUNNING =
  "to-command use-compress-program checkpoint checkpoint-action rsh-command rmt-command new-volume-script info-script".split(" ");

function tarTags(words: Words): readonly Tag[] {
  const runsCommand = hasOption(words, /^-?[a-zA-Z]*[IF]/, ...TAR_RUNNING);
  return runsCommand ? ["mutating", "opaque"] : ["mutating", "unknown-path"];
}

/** Sed can write files and run commands through its script: every script that is not plainly harmless is opaque. */
function sedTags(words: Words): readonly Tag[] {
  const options = words.filter((word): word is string => word?.startsWith("-") ?? false);
  const scripts = words.includes("-e")
    ? words.filter((_, at) => words[at - 1] === "-e")
    : words.filter((word) => !word?.startsWith("-")).slice(0, 1);
  const isKnown = options.every((word) => /^-(?:[nErsuz]*i?[nErsuz]*|i\.\w+|e|-in-place|-quiet|-regexp-extended)$/.test(word));
  const isPlain =
    isKnown && scripts.length > 0 && scripts.every((script) => script !== null && script.length <= SED_CHARS_MAX && PLAIN_SED.test(script));
  const isInPlace = hasOption(options, /^-[a-zA-Z]*i/, "in-place");
  return [...(isInPlace ? (["mutating"] as const) : []), ...(isPlain ? [] : (["opaque"] as const))];
}

/** Awk's program can run commands, write files and open connections; it is the first word that is not an option. */
function awkTags(words: Words): readonly Tag[] {
  let at = 0;
  for (; words[at]?.startsWith("-"); at++) {
    if (!/^-[Fv]/.test(words[at]!)) return ["opaque"];
    if (words[at]!.length === 2) at++;
  }
  const program = words[at];
  if (program === undefined || program === null) return ["opaque"];
  return /system|getline|close|[|>@]|\/inet/.test(program.replaceAll("||", "").replaceAll(">=", "")) ? ["opaque"] : [];
}

const ADDRESS = String.raw`(?:(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)(?:,(?:\d+|\$|\+\d+|/(?:[^/\\\n]|\\.)*/))?!?)`;
const SUBSTITUTE = "/|#,:@%!_".split("").map((mark) => {
  const at = mark === "|" ? String.raw`\|` : mark;
  return `s${at}(?:[^${at}\\\\\\n]|\\\\.)*${at}(?:[^${at}\\\\\\n]|\\\\.)*${at}[gpiI0-9]*`;
});
const STEP = `[ \\t]*(?:${ADDRESS}[ \\t]*)?(?:[pdDPhHgGxnN=]|q\\d*|${SUBSTITUTE.join("|")})[ \\t]*`;
const PLAIN_SED = new RegExp(`^${STEP}(?:[;\\n]${STEP})*;?$`);
const SED_CHARS_MAX = 500;
