// Programs that read more than the files their words name: whole folders, files that another file lists, the environment. What
// they show is not known before they run, so a grant for commands like another one does not cover them.

type Words = readonly (string | null)[];

const ALWAYS = new Set("rg tar gtar bsdtar zip rsync rclone lftp sftp smbclient socat mutt xargs printenv".split(" "));

const GREP = /^-\w*[rRd]|^--(?:r|de|di)/;
const FOLDERS = /^-\w*[rR]|^--r/;
/** Options by which they do. Letters may stand together, and many programs take long options shortened. */
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
  // Without a dash, `e` shows what programs were started with.
  ps: /^[a-zA-Z]*e|^-\w*E/,
};

/** Those that list variables with their values where they are given none. */
const LISTING = new Set("export declare typeset local readonly".split(" "));

export function readsBeyond(name: string, words: Words): boolean {
  if (ALWAYS.has(name)) return true;
  if (name === "set") return words.length === 0;
  if (LISTING.has(name)) return words.every((word) => word?.startsWith("-")) || words.some((word) => word !== null && /^-\w*p/.test(word));
  const option = Object.hasOwn(BY_OPTION, name) ? BY_OPTION[name]! : null;
  return option !== null && words.some((word) => word !== null && option.test(word));
}

const MADE: ReadonlySet<string> = new Set(
  "ParameterExpansion CommandSubstitution ProcessSubstitution ArithmeticExpansion BraceExpansion Glob".split(" "),
);

/** Whether a part of a word becomes another text when the command runs, in this shell or in the one of some device. */
export function isMade(part: { type: string; value?: unknown }): boolean {
  return MADE.has(part.type) || (part.type === "Literal" && typeof part.value === "string" && /[*?[{]|%\w+%/.test(part.value));
}
