// The programs and options that a trusted agent may use on a device without being asked: they show something, or change exactly the
// files they name. Nothing in their arguments runs a program, connects, deletes, or writes elsewhere, on Linux, on macOS, or as the
// command that PowerShell has under that name. Whatever is not listed is asked about. vetted-commands.ts reads command lines.

/** Deny by default: a word that looks like an option and is not here exactly makes the command unvetted, also as an abbreviation. */
type VettedProgram = {
  /** Letters of options without a value, and of options with one. */
  flags?: string;
  valued?: string;
  /** Long options without a value, and with one after `=`. */
  long?: readonly string[];
  longValued?: readonly string[];
  /** How many operands there may be; any number if absent. */
  operands?: number;
  /** What an operand may be, and the first one if that is different; a path if absent. */
  operand?: RegExp;
  first?: RegExp;
  /** Conditions after the operands, without a value and with one, instead of options. */
  conditions?: readonly string[];
  conditionsValued?: readonly string[];
  /** Every word is text to print. */
  isText?: true;
};

const ANY = /^/;
/**
 * A path that names one file everywhere. PowerShell expands patterns even in quotes, takes a comma for a list, reads variables and the
 * registry through paths such as `env:`, and connects to another machine for `//host/share`.
 */
const PATH = /^(?!\/\/)(?:[A-Za-z]:)?[^:,*?[\]{}]+$/;

/**
 * Left out on purpose, though they look harmless:
 * - git runs programs that the configuration of a repository names (core.fsmonitor, diff.external, a promisor remote), and takes any
 *   directory with files named HEAD and config, and directories named objects and refs, for a repository. A trusted agent can write
 *   those: none is hidden.
 * - cp copies the right to be run, so that a shell may find the copy under the name of another program.
 * - printf assigns variables in bash (`printf %n PATH`).
 * - diff shows all files of two directories, also those that hold secrets. env, printenv and `ps -o` show variables.
 * - awk, sed, find -exec, xargs, rg --pre, tar and the like run programs or write where their arguments say.
 */
const PROGRAMS: Readonly<Record<string, VettedProgram>> = {
  // The machine and who uses it.
  uptime: { flags: "ps", operands: 0 },
  date: { flags: "uRI", operands: 1, operand: /^\+/ },
  uname: { flags: "amnoprsv", operands: 0 },
  hostname: { flags: "fsI", operands: 0 },
  nproc: { long: ["all"], operands: 0 },
  lscpu: { operands: 0 },
  lsblk: { flags: "afmpt", valued: "o", operands: 0 },
  df: { flags: "ahHiklPT" },
  du: { flags: "abchkmsx", valued: "d", longValued: ["max-depth"] },
  free: { flags: "bghkmtw", operands: 0 },
  ps: { flags: "aAefFlw", valued: "pu", operands: 1, operand: /^(?:ax|aux|auxw|auxww)$/ },
  pgrep: { flags: "aflx", valued: "u", operands: 1, operand: ANY },
  whoami: { operands: 0 },
  id: { flags: "gGnru", operands: 1, operand: ANY },
  who: { flags: "abHmqrsu", operands: 0 },
  w: { flags: "hs", operands: 0 },
  last: { valued: "n", operands: 1, operand: ANY },
  which: { flags: "a", operand: ANY },

  // Files.
  pwd: { flags: "LP", operands: 0 },
  cd: { operands: 1 },
  ls: {
    flags: "aAbBcCdfFgGhHiklLmnopqQrRsStuUxX1",
    long: ["all", "almost-all", "full-time", "group-directories-first", "human-readable", "recursive", "reverse"],
    longValued: ["color", "sort", "time-style"],
  },
  stat: { flags: "Lx", valued: "cf", longValued: ["format", "printf"] },
  file: { flags: "bhiIL" },
  basename: { operand: ANY },
  dirname: { operand: ANY },
  readlink: { flags: "f" },
  realpath: {},
  // Each condition has a file or a text.
  test: { operands: 0, conditions: ["-a", "-o"], conditionsValued: ["-d", "-e", "-f", "-h", "-L", "-n", "-r", "-s", "-w", "-x", "-z"] },
  find: {
    conditions: ["-a", "-and", "-depth", "-empty", "-ls", "-mount", "-not", "-o", "-or", "-print", "-print0", "-prune", "-xdev"],
    conditionsValued:
      "-name -iname -path -ipath -regex -iregex -type -size -perm -user -group -amin -atime -cmin -ctime -mmin -mtime -newer -maxdepth -mindepth".split(
        " ",
      ),
  },

  // Their content.
  cat: { flags: "AbeEnstTuv" },
  head: { flags: "q0123456789", valued: "cn", longValued: ["bytes", "lines"] },
  tail: { flags: "q0123456789", valued: "cn", longValued: ["bytes", "lines"] },
  tac: {},
  rev: {},
  nl: { valued: "b" },
  wc: { flags: "clmwL" },
  grep: {
    flags: "acEFGhHiIlLnoPqsvwx",
    valued: "ABCem",
    long: ["color", "count", "fixed-strings", "ignore-case", "line-number"],
    longValued: ["color", "context"],
    first: ANY,
  },
  sort: { flags: "bcdfghiMnrRsuVz", valued: "kt", long: ["human-numeric-sort", "numeric-sort", "reverse", "unique", "version-sort"] },
  // Its second operand is a file that it writes.
  uniq: { flags: "cdDiu", valued: "fsw", operands: 1 },
  cut: { flags: "s", valued: "bcdf", long: ["complement"], longValued: ["delimiter", "fields", "output-delimiter"] },
  tr: { flags: "cCdst", operands: 2, operand: ANY },
  cmp: { flags: "bls", operands: 2 },
  comm: { flags: "123", operands: 2 },
  md5sum: { flags: "b" },
  sha1sum: { flags: "b" },
  sha256sum: { flags: "b" },
  sha512sum: { flags: "b" },

  // Words.
  echo: { isText: true },
  true: { isText: true },
  false: { isText: true },
  seq: { flags: "w", valued: "s", operand: ANY },
  sleep: { operands: 1, operand: ANY },

  // These change the files they name, and create none that can be run. tags.ts says whether somebody must be asked about the place.
  mkdir: { flags: "pv" },
  touch: { flags: "c" },
  tee: { flags: "a" },
};

/** Whether a program may run with these words, all of which are known in advance. */
export function isVettedProgram(name: string, words: readonly string[]): boolean {
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  if (program === undefined) return false;
  if (program.isText === true) return true;
  const start = countOptionWords(program, words);
  if (start === null) return false;
  const rest = words.slice(start);
  const end = rest.findIndex(isOption);
  const operands = end === -1 ? rest : rest.slice(0, end);
  return areOperands(program, operands) && areConditions(program, rest.slice(operands.length));
}

/** Whether this is a path that names the same file for every shell and program. */
export function isPlainPath(word: string): boolean {
  return PATH.test(word);
}

/** The names, for tests. */
export const VETTED_PROGRAMS: readonly string[] = Object.keys(PROGRAMS);

/** Options come before operands: programs differ in how they read later ones. Null if one is not listed. */
function countOptionWords(program: VettedProgram, words: readonly string[]): number | null {
  const { flags = "", valued = "", long = [], longValued = [], conditions } = program;
  if (conditions !== undefined) return 0;
  let at = 0;
  for (; at < words.length && isOption(words[at]!); at++) {
    const word = words[at]!;
    if (word.startsWith("--")) {
      const equals = word.indexOf("=");
      const isListed = equals === -1 ? long.includes(word.slice(2)) : longValued.includes(word.slice(2, equals));
      if (!isListed) return null;
      continue;
    }
    const letters = word.slice(1).split("");
    const other = letters.findIndex((letter) => !flags.includes(letter));
    if (other === -1) continue;
    if (!valued.includes(letters[other]!)) return null;
    // The value is the rest of the word, or the next word.
    if (other + 1 < letters.length) continue;
    at++;
    if (at === words.length || isOption(words[at]!)) return null;
  }
  return at;
}

function areOperands({ operands = Infinity, operand = PATH, first = operand }: VettedProgram, words: readonly string[]): boolean {
  return words.length <= operands && words.every((word, at) => (at === 0 ? first : operand).test(word));
}

function areConditions({ conditions = [], conditionsValued = [] }: VettedProgram, words: readonly string[]): boolean {
  for (let at = 0; at < words.length; at++) {
    if (conditions.includes(words[at]!)) continue;
    if (!conditionsValued.includes(words[at]!)) return false;
    at++;
    if (at === words.length) return false;
  }
  return true;
}

/** A single dash is the standard input. */
function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}
