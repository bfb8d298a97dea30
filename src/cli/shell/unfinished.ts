// Whether a shell would wait for another line: an open quote, bracket or here-document, an `if` without its `fi`, a line that
// ends in a backslash or a pipe. It knows just enough of the language for that; the shell reports other mistakes.

const OPENS = new Set(["if", "for", "while", "until", "case", "select", "{"]);
const CLOSES = new Set(["fi", "done", "esac", "}"]);
/** After these a command follows. */
const BEFORE_COMMAND = new Set(["if", "then", "else", "elif", "while", "until", "do", "{", "!", "time"]);
const WORD = /[^\s;&|()<>'"`\\$]+/y;
const HERE = /<<(-?)[ \t]*(?:'([^']*)'|"([^"]*)"|\\?([^\s;&|()<>]+))/y;

export function isUnfinished(text: string): boolean {
  /** What closes each open bracket or quote, innermost last. */
  const open: string[] = [];
  const here: { word: string; isIndented: boolean }[] = [];
  let depth = 0;
  let isCommand = true;
  let isJoined = false;
  for (let at = 0; at < text.length;) {
    const character = text[at] ?? "";
    const rest = text.slice(at, at + 2);
    const inside = open.at(-1);
    if (character === "\\") {
      if (at + 1 >= text.length) return true;
      at += 2;
      // A continued line that is still empty is not complete.
      if (at >= text.length && text[at - 1] === "\n") return true;
      isCommand = isCommand && text[at - 1] === "\n";
      continue;
    }
    if (inside === '"' || inside === "`") {
      if (character === inside) open.pop();
      else if (rest === "$(") open.push("$)");
      else if (rest === "${") open.push("}");
      at += rest === "$(" || rest === "${" ? 2 : 1;
      continue;
    }
    if (/[ \t]/.test(character)) {
      at++;
      continue;
    }
    if (character === "#" && (at === 0 || /[\s;&|(]/.test(text[at - 1] ?? ""))) {
      at = lineEnd(text, at);
      continue;
    }
    if (character === "\n") {
      at++;
      isCommand = true;
      for (const { word, isIndented } of here.splice(0)) {
        const after = hereDocumentEnd(text, at, word, isIndented);
        if (after === null) return true;
        at = after;
      }
      continue;
    }
    if (character === "'" || rest === "$'") {
      const end = quoteEnd(text, at + (character === "'" ? 1 : 2), character !== "'");
      if (end === null) return true;
      at = end;
      [isCommand, isJoined] = [false, false];
      continue;
    }
    if (rest === "<<" && text[at + 2] !== "<" && !open.includes("))")) {
      HERE.lastIndex = at;
      const found = HERE.exec(text);
      if (found === null) return false;
      here.push({ word: found[2] ?? found[3] ?? found[4] ?? "", isIndented: found[1] === "-" });
      at += found[0].length;
      continue;
    }
    if (character === '"' || character === "`") {
      open.push(character);
      [isCommand, isJoined] = [false, false];
      at++;
      continue;
    }
    if (rest === "${") {
      open.push("}");
      [isCommand, isJoined] = [false, false];
      at += 2;
      continue;
    }
    if (inside === "}") {
      if (character === "}") open.pop();
      at++;
      continue;
    }
    if (rest === "((" || text.startsWith("$((", at)) {
      open.push("))");
      isJoined = false;
      at += rest === "((" ? 2 : 3;
      continue;
    }
    if (character === "(" || rest === "$(") {
      open.push(rest === "$(" ? "$)" : ")");
      [isCommand, isJoined] = [true, false];
      at += rest === "$(" ? 2 : 1;
      continue;
    }
    if (character === ")") {
      // A parenthesis that closes nothing ends a pattern of `case`.
      const width = inside === "))" && rest === "))" ? 2 : 1;
      if (inside === ")" || inside === "$)" || width === 2) open.pop();
      // The body of a function or of a case follows, unless this was part of a word.
      isCommand = inside !== "$)" && inside !== "))";
      isJoined = false;
      at += width;
      continue;
    }
    if (/[;&|<>]/.test(character)) {
      isJoined = character === "|" || rest === "&&";
      isCommand = character !== "<" && character !== ">";
      at += rest === "&&" || rest === "||" || rest === ";;" ? 2 : 1;
      if (rest === "<<") at += 2;
      continue;
    }
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[0] ?? character;
    at += word.length;
    isJoined = false;
    if (inside === "))") continue;
    if (isCommand && OPENS.has(word)) depth++;
    else if (isCommand && CLOSES.has(word)) depth--;
    isCommand = isCommand && BEFORE_COMMAND.has(word);
  }
  return open.length > 0 || here.length > 0 || depth > 0 || isJoined;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** The position after the closing quote; null if there is none. */
function quoteEnd(text: string, from: number, hasEscapes: boolean): number | null {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") return at + 1;
    if (hasEscapes && text[at] === "\\") at++;
  }
  return null;
}

/** The position after the line that ends a here-document; null if there is none. */
function hereDocumentEnd(text: string, from: number, word: string, isIndented: boolean): number | null {
  for (let at = from; at < text.length;) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    if ((isIndented ? line.replace(/^\t+/, "") : line) === word) return Math.min(end + 1, text.length);
    at = end + 1;
  }
  return null;
}
