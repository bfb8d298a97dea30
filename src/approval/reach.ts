// Programs that read more than the files their words name: whole directories, files listed in another file, the environment.
// Their output is not known before they run, so no `class` grant covers them.

type Words = readonly (string | null)[];

const ALWAYS = new Set("rg tar gtar bsdtar zip rsync rclone lftp sftp smbclient socat mutt xargs printenv".split(" "));

const GREP = /^-\w*[rRd]|^--(?:r|de|di)/;
const FOLDERS = /^-\w*[rR]|^--r/;
/** Options that make a program read more. Letters may be combined, and many programs accept abbreviated long options. */
const BY_OPTION: Readonly<Record<string, RegExp>> = {
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  cp: /^-\w*[rRa]|^--(?:r|a)/,
  scp: FOLDERS,
  gzip: FOLDERS,
  gunzip: FOLDERS,
  zstd: /^-\w*r|^--(?:r|filelist)/,
  diff: /^-\w*[rNP]|^--(?:r|n|u)/,
  sort: /^--f/,
  wc: /^--f/,
  du: /^--f/,
  find: /^-(?:exec|ok|delete|f(?:print|ls)|files0)/,
  fd: /^-\w*[xX]|^--exec/,
  curl: /^-\w*K|^--c/,
  wget: /^-\w*[ie]|^--(?:i|e)/,
  nc: /^-\w*[ec]/,
  ncat: /^-\w*[ec]|^--(?:e|s|l)/,
  git: /^grep$|^archive$|^--(?:no-i|batch)/,
  jq: /env|import|include/i,
  awk: /ARG|ENVIRON|PROCINFO|SYMTAB/,
  gawk: /ARG|ENVIRON|PROCINFO|SYMTAB/,
  mawk: /ARG|ENVIRON/,
  nawk: /ARG|ENVIRON/,
  // Without a dash, `e` shows the environment of processes.
  ps: /^[a-zA-Z]*e|^-\w*E/,
};

/** Builtins that list variables with their values when they are given none. */
const LISTING = new Set("export declare typeset local readonly".split(" "));

export function readsUnnamedFiles(name: string, words: Words): boolean {
  if (ALWAYS.has(name)) return true;
  if (name === "set") return words.length === 0;
  if (LISTING.has(name)) return words.every((word) => word?.startsWith("-")) || words.some((word) => word !== null && /^-\w*p/.test(word));
  const option = Object.hasOwn(BY_OPTION, name) ? BY_OPTION[name]! : null;
  return option !== null && words.some((word) => word !== null && option.test(word));
}

const COMPUTED: ReadonlySet<string> = new Set(
  "ParameterExpansion CommandSubstitution ProcessSubstitution ArithmeticExpansion BraceExpansion Glob".split(" "),
);

/** Whether the shell, here or on some device, replaces this part of a word when the command runs. */
export function isComputedPart(part: { type: string; value?: unknown }): boolean {
  return COMPUTED.has(part.type) || (part.type === "Literal" && typeof part.value === "string" && /[*?[{]|%\w+%/.test(part.value));
}
