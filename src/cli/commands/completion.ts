// gsv completion: prints the script that makes a shell complete gsv. The script asks `gsv __complete`, so it stays right when commands
// are added.

import { Problem } from "../terminal/problem.ts";
import { printCommand, printNote } from "../terminal/terminal.ts";

const EXIT_USAGE = 2;

type Shell = { script: string; lines: readonly string[] };

const BASH = `# Completion of gsv for bash.
_gsv_complete() {
  local line=\${COMP_LINE:0:COMP_POINT} value about cut
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    COMPREPLY+=("$value")
  done < <(gsv __complete --line "$line" 2>/dev/null)
  # Bash completes only what follows the last colon of a word.
  cut=\${line##*[[:space:]]}
  if [[ $cut == *:* && $COMP_WORDBREAKS == *:* ]]; then
    cut=\${cut%"\${cut##*:}"}
    COMPREPLY=("\${COMPREPLY[@]#"$cut"}")
  fi
  # The name of a machine and a colon begin a path.
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *: ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _gsv_complete gsv
`;

const ZSH = `#compdef gsv
# Completion of gsv for zsh.
_gsv() {
  local value about
  local -a words_found paths_found
  while IFS=$'\\t' read -r value about; do
    if [[ $value == *: ]]; then
      paths_found+=("$value")
    elif [[ -n $about ]]; then
      words_found+=("\${value//:/\\\\:}:$about")
    else
      words_found+=("\${value//:/\\\\:}")
    fi
  done < <(gsv __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#words_found )) && _describe gsv words_found
  (( $#paths_found )) && compadd -S '' -- $paths_found
  (( $#words_found + $#paths_found )) || _files
}
if [[ $funcstack[1] == _gsv ]]; then
  _gsv "$@"
else
  compdef _gsv gsv
fi
`;

const FISH = `# Completion of gsv for fish.
function __gsv_complete
    set -l tokens (commandline -opc)
    gsv __complete -- $tokens[2..-1] (commandline -ct) 2>/dev/null
end
complete -c gsv -a '(__gsv_complete)'
`;

const SHELLS: Readonly<Record<string, Shell>> = {
  bash: {
    script: BASH,
    lines: ["To use it now and from now on:", `  echo 'source <(gsv completion bash)' >> ~/.bashrc && source ~/.bashrc`],
  },
  zsh: { script: ZSH, lines: ["Add this line to ~/.zshrc, after compinit:", "  source <(gsv completion zsh)"] },
  fish: {
    script: FISH,
    lines: ["To use it from now on:", "  gsv completion fish > ~/.config/fish/completions/gsv.fish"],
  },
};

export async function completion([name]: readonly string[]): Promise<void> {
  const guessed = name ?? (process.env.SHELL ?? "").split("/").at(-1) ?? "";
  const shell = Object.hasOwn(SHELLS, guessed) ? SHELLS[guessed] : undefined;
  if (shell === undefined) throw new Problem("Which shell? gsv completion bash, zsh or fish", EXIT_USAGE);
  // At a terminal nobody needs the script: what to do with it helps.
  if (process.stdout.isTTY) {
    printNote(`This script makes ${guessed} complete gsv. ${shell.lines[0]}`);
    return shell.lines.slice(1).forEach(printCommand);
  }
  process.stdout.write(shell.script);
}
