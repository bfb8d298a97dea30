// What the help of a command says besides its options: remarks, then examples with what each does. Keys are the words of a command.

export type HelpText = { remarks?: readonly string[]; examples?: readonly Example[] };
/** A command line and what it does. */
export type Example = readonly [line: string, does: string];

const PATHS = "A path is on the gateway; laptop:PATH is on a machine of yours named laptop.";

export const HELP_TEXTS: Readonly<Record<string, HelpText>> = {
  "": {
    remarks: [
      "A - in place of a secret reads one line of standard input. Several are read in this order: login password, current password, new password, root password, API key.",
      "Exit codes: 0 success, 1 failed or refused, 3 no gateway reachable, 130 cancelled.",
    ],
    examples: [
      ["gsv chat", "talk to your agent"],
      ['cat notes.md | gsv chat "summarize this"', "ask once, with a file"],
      ["gsv token create --device laptop", "print the command that connects a machine"],
      ["gsv shell --target laptop", "open a terminal there"],
      ["gsv approvals", "see what agents ask to do"],
      ["gsv sched add every weekday at 9 summarize my mail", "have an agent work at set times"],
      ["gsv help cp", "explain a command"],
    ],
  },
  up: {
    examples: [
      ["gsv up", "run the gateway until Ctrl-C"],
      ["gsv up --port 9000", "on another port"],
      ["gsv up --service", "keep it running as a user service"],
      ["gsv up --service status", "show whether the service runs"],
    ],
  },
  auth: {
    examples: [
      ["gsv auth login", "log in for 8 hours"],
      ["gsv -u root auth login", "log in as root, the administrator"],
      ["gsv auth logout", "end the session"],
    ],
  },
  "auth setup": {
    examples: [
      ["gsv auth setup", "asks for what it needs"],
      ["echo PASSWORD | gsv auth setup --username alice --new-password -", "without questions"],
    ],
  },
  "auth login": {
    examples: [
      ["gsv auth login", "asks for your password"],
      ["gsv -u root auth login", "as root"],
      ["gsv auth login --ttl-hours 1", "for an hour"],
    ],
  },
  "auth logout": { examples: [["gsv auth logout", "end the session at the gateway and on this machine"]] },
  status: {
    examples: [
      ["gsv status", "what runs, who you are, what waits for you"],
      ["gsv status --json", "the same for scripts"],
    ],
  },
  open: {
    remarks: [
      "A place is home, chat, approvals, machines, schedules, notifications, integrations or settings, a page of one such as settings/ai, or the id or title of a conversation. Without a browser, or over SSH, the address is printed. It never contains a token: the browser asks you to sign in.",
    ],
    examples: [
      ["gsv open", "the desktop"],
      ["gsv open approvals", "what waits for you"],
      ["gsv open settings/ai", "which model answers"],
      ["gsv open --print", "only print the address"],
    ],
  },
  doctor: {
    examples: [
      ["gsv doctor", "check the gateway, this machine and your account"],
      ["gsv doctor --model", "also send the model a short message"],
    ],
  },
  command: {
    remarks: [
      "The command is a small file in ~/.local/bin, or in the first directory of your own on PATH. It runs the clone from which it was installed, so it needs no update. Another program's file is never replaced.",
    ],
    examples: [
      ["npx gsv command install", "from a clone: type gsv from now on"],
      ["gsv command status", "show where it is"],
      ["gsv command remove", "delete it"],
    ],
  },
  chat: {
    remarks: [
      "With a message or piped input, it prints the answer and exits.",
      "In a terminal, Ctrl-C stops the run, Ctrl-D leaves and /help lists the rest. Messages that you type during a run are queued.",
      "Piped input is appended to the message. Piped output is plain text. --json prints one object at the end, --events one line per event.",
      "Exit codes: 0 answered, 1 the run failed, 2 usage error, 4 waiting for your answer (gsv approvals), 130 stopped.",
    ],
    examples: [
      ["gsv chat", "talk to your personal agent"],
      ['gsv chat "what uses the disk on laptop?"', "ask once"],
      ["cat notes.md | gsv chat summarize this", "with a file"],
      ["gsv chat --new --title Taxes", "in a new conversation"],
    ],
  },
  proc: {
    examples: [
      ["gsv proc list", "agents and what each is doing"],
      ["gsv proc spawn --label taxes sort my receipts", "start a helper"],
      ["gsv proc abort taxes", "stop what it does now"],
    ],
  },
  "proc list": { examples: [["gsv proc list", "agents and what each is doing"]] },
  "proc spawn": {
    examples: [
      ["gsv proc spawn --label taxes sort my receipts", "start a helper that begins at once"],
      ["gsv chat --pid taxes", "talk to it"],
    ],
  },
  "proc send": { examples: [["gsv proc send --pid taxes now those of last year", "send a message and do not wait"]] },
  "proc history": { examples: [["gsv proc history --pid taxes --limit 10", "the last ten messages"]] },
  "proc abort": { examples: [["gsv proc abort", "stop your personal agent's run"]] },
  "proc usage": {
    examples: [
      ["gsv proc usage taxes", "what one agent has used"],
      ["gsv proc usage --days 7", "each of the last seven days"],
    ],
  },
  "proc context": { examples: [["gsv proc context --text", "all that the model is told"]] },
  approvals: {
    examples: [
      ["gsv approvals", "what waits for you, and what you have allowed"],
      ["gsv approvals approve 3f2a", "allow a call once"],
      ["gsv approvals approve 3f2a --for 8h", "and exactly this call for 8 hours"],
      ['gsv approvals deny 3f2a --reason "use the copy"', "deny it; the agent sees the reason"],
    ],
  },
  "approvals approve": {
    examples: [
      ["gsv approvals approve 3f2a", "once"],
      ["gsv approvals approve 3f2a --day", "and exactly this call for 24 hours"],
      ["gsv approvals approve 3f2a --scope folder --for 2h", "and the same tool in that folder for 2 hours"],
    ],
  },
  "approvals deny": { examples: [['gsv approvals deny 3f2a --reason "use the copy"', "the agent sees the reason"]] },
  "approvals revoke": { examples: [["gsv approvals revoke 7c10", "ask again from now on"]] },
  "approvals history": { examples: [["gsv approvals history --limit 50", "the last 50 questions and their outcome"]] },
  device: {
    examples: [
      ["gsv device list --all", "your machines, also those that are offline"],
      ["gsv device describe laptop my everyday machine", "tell agents what it is for"],
      ["gsv device logs -f", "follow what this machine does"],
    ],
  },
  "device run": {
    examples: [["GSV_DEVICE_TOKEN=... gsv --url https://gsv.example.com -u alice device run --id laptop", "until Ctrl-C"]],
  },
  "device install": {
    remarks: ["The token is read from GSV_DEVICE_TOKEN. gsv token create --device NAME prints a command that installs everything."],
    examples: [
      ["GSV_DEVICE_TOKEN=... gsv --url https://gsv.example.com -u alice device install --id laptop", "keep this machine connected"],
    ],
  },
  "device logs": { examples: [["gsv device logs -f -l 20", "the last 20 lines, then new ones"]] },
  "device list": { examples: [["gsv device list --all", "also those that are offline"]] },
  "device describe": { examples: [["gsv device describe laptop my everyday machine, has the tax papers", "agents choose by it"]] },
  shell: {
    remarks: [
      "Piped input runs as a script.",
      "On a machine, your own shell runs in a terminal and receives every key. Type ~. at the start of a line to leave it running.",
      "On the gateway, Tab completes commands and paths. Ctrl-C interrupts a command, Ctrl-D ends its input. At an empty prompt, Ctrl-D or exit leaves.",
      "The working directory and variables are kept between lines; functions, aliases and set options are not.",
      "The history is stored next to the config file. Lines that start with a space are not saved.",
    ],
    examples: [
      ["gsv shell", "a prompt on the gateway"],
      ["gsv shell --target laptop", "a terminal on a machine"],
      ["gsv shell < script.sh", "run a script"],
    ],
  },
  run: {
    remarks: [
      "It exits with the exit code of the command. Without a command, it runs a script from standard input.",
      "A single argument is a shell command line. Several are a command and its arguments, quoted as needed.",
      "The command reads standard input. Ctrl-C interrupts it (exit code 130).",
    ],
    examples: [
      ["gsv run -- ls -l", "on the gateway"],
      ["gsv run --target laptop -- git status --short", "on a machine"],
      ["gsv run -- 'ls | wc -l'", "a shell command line"],
    ],
  },
  jobs: {
    remarks: [
      "Without --target, it asks the gateway and all machines that are online. A command that has ended is listed until its result was read.",
    ],
    examples: [
      ["gsv jobs", "on the gateway and all machines"],
      ["gsv jobs attach 1f4c", "follow one"],
      ["gsv jobs kill 1f4c", "end one"],
    ],
  },
  "jobs attach": { examples: [["gsv jobs attach 1f4c", "the start of its id is enough"]] },
  "jobs kill": { examples: [["gsv jobs kill 1f4c --signal INT", "as by Ctrl-C"]] },
  ls: { remarks: [PATHS], examples: [["gsv ls laptop:Documents", "a directory on a machine"]] },
  cat: { remarks: [PATHS], examples: [["gsv cat laptop:/etc/hostname", "a file on a machine"]] },
  write: {
    remarks: ["Without a file or with -, it writes standard input.", PATHS],
    examples: [
      ["gsv write notes.md notes.md", "from a local file"],
      ["date | gsv write laptop:seen.txt", "from standard input"],
    ],
  },
  rm: { remarks: [PATHS], examples: [["gsv rm -r laptop:build", "a directory on a machine"]] },
  cp: {
    remarks: [
      PATHS,
      "A file replaces its destination only when the copy is complete. To resume an interrupted copy, run the command again.",
      "A <to> that ends in / is a directory and is created if it does not exist. Links are skipped with a note; so are empty directories, unless they are copied to this machine. New files keep their permission bits; owners and times are not copied.",
    ],
    examples: [
      ["gsv cp notes.md gsv:~/", "to the gateway"],
      ["gsv cp -r gsv:~/knowledge .", "from the gateway"],
      ["gsv cp laptop:film.mkv server:films/", "from machine to machine"],
    ],
  },
  search: {
    remarks: ["It prints the lines that contain the text, which is not a pattern.", PATHS],
    examples: [['gsv search "invoice 2026" laptop:Documents --include "*.md"', "on a machine"]],
  },
  repo: {
    remarks: ["A name without an owner is one of yours."],
    examples: [
      ["gsv repo create notes", "create one and print its address"],
      ["gsv repo log notes", "its commits"],
    ],
  },
  "repo create": { examples: [["gsv repo create notes --description 'my notes'", "a private repository"]] },
  "repo log": { examples: [["gsv repo log alice/notes --ref main --limit 5", "the last five commits"]] },
  "repo diff": { examples: [["gsv repo diff notes main", "what the last commit of main changed"]] },
  workspace: { examples: [["gsv workspace list", "your workspaces"]] },
  sched: {
    remarks: [
      "Subcommands: list, add, show, history, enable, disable, remove, run, preview.",
      "Times of day are in the time zone of this machine, or in --timezone ZONE. gsv run -- man sched explains everything.",
    ],
    examples: [
      ["gsv sched add every weekday at 9 summarize my mail", "in plain words"],
      ['gsv sched add --every 2h --name "Disk check" check the disk space of all machines', "at an interval"],
      ['gsv sched add --at "tomorrow 09:00" remind me to call mum', "once"],
      ["gsv sched list", "what runs next"],
      ["gsv sched history NAME", "how its runs went"],
      ["gsv sched run NAME --force", "run it now"],
    ],
  },
  crontab: {
    remarks: ["A file takes the place of all schedules with cron expressions. gsv run -- man crontab explains its format."],
    examples: [
      ["gsv crontab -l", "print it"],
      ["gsv crontab -e", "edit it"],
    ],
  },
  notify: {
    remarks: ["Subcommands: list, send, read, dismiss.", "gsv run -- man notify explains everything."],
    examples: [
      ["gsv notify list --unread", "what you have not read"],
      ['gsv notify send "The backup is done" --level success', "tell yourself something"],
      ["gsv notify dismiss --all", "clear the list"],
    ],
  },
  signal: {
    remarks: ["Subcommands: list, watch, unwatch.", "gsv run -- man signal explains everything."],
    examples: [["gsv signal watch proc.run.finished --process PID", "tell your personal agent when a run ends"]],
  },
  mcp: {
    remarks: [
      "Subcommands: list, tools, describe, search, add, call, changes, accept, refresh, remove.",
      "gsv run -- man mcp explains everything.",
    ],
    examples: [
      ["gsv mcp add Linear https://mcp.linear.app/mcp", "connect a server"],
      ["gsv mcp list", "servers and their state"],
      ["gsv mcp tools Linear", "what agents can call"],
    ],
  },
  ai: { examples: [["gsv ai check", "test the model that answers you"]] },
  "ai check": {
    examples: [
      ["gsv ai check", "the configured model"],
      ["gsv ai check --provider openai --api-key", "another provider; asks for the key"],
      ["gsv ai check --base-url http://127.0.0.1:8080/v1", "your own model server"],
    ],
  },
  config: {
    examples: [
      ["gsv config get config/ai", "which model is used"],
      ["gsv config set config/ai/api_key -", "asks for the value"],
      ["gsv config --local set gateway.url https://gsv.example.com", "which gateway this command uses"],
    ],
  },
  "config get": { examples: [["gsv config get config/ai", "all values below a key"]] },
  "config set": { examples: [["gsv config set config/ai/model claude-sonnet-4-5", "set one"]] },
  "config unset": { examples: [["gsv config unset config/ai/model", "use the default again"]] },
  token: {
    examples: [
      ["gsv token create --device laptop", "print the command that connects a machine"],
      ["gsv token create --label backup --expires 90d", "for a script"],
      ["gsv token list", "what has access"],
      ["gsv token revoke ID", "end its access"],
    ],
  },
  "token create": {
    remarks: ["The token is printed on standard output, once. With --device, the command that connects that machine is shown too."],
    examples: [
      ["gsv token create --device laptop", "and print the command that connects that machine"],
      ["gsv token create --label backup --expires 90d", "for a script"],
    ],
  },
  "token list": { examples: [["gsv token list --all", "also those that have ended"]] },
  "token revoke": { examples: [["gsv token revoke ID", "connections that use it are closed"]] },
  user: {
    examples: [
      ["gsv -u root user add bob", "asks for bob's password"],
      ["gsv user passwd", "change your own password"],
    ],
  },
  "user add": { examples: [["gsv -u root user add bob --name 'Bob B.' --group family", "asks for bob's password"]] },
  "user passwd": { examples: [["gsv user passwd --revoke-tokens", "change your own and sign out everywhere"]] },
  group: { examples: [["gsv -u root group members family alice bob --add", "add two members"]] },
  "group members": { examples: [["gsv -u root group members family alice bob --add", "add two members"]] },
  capability: { examples: [["gsv -u root capability grant family sys.token.list", "let members of a group do something"]] },
  "capability grant": { examples: [["gsv -u root capability grant family 'sys.config.*'", "all calls that begin like this"]] },
  call: {
    remarks: ["Without arguments, or with -, it reads them from standard input if that is a pipe."],
    examples: [
      ["gsv call sys.info", "without arguments"],
      [`gsv call fs.read '{"target":"laptop","path":"notes.md"}'`, "with arguments"],
      ["gsv help syscalls", "list all"],
    ],
  },
  completion: {
    remarks: [
      "At a terminal, it says how to install the script.",
      "Completes commands, options, machines, conversations and agents. The script asks gsv, so it needs no update.",
    ],
    examples: [
      ["source <(gsv completion bash)", "bash: add this line to ~/.bashrc"],
      ["source <(gsv completion zsh)", "zsh: add this line to ~/.zshrc, after compinit"],
      ["gsv completion fish > ~/.config/fish/completions/gsv.fish", "fish: run this once"],
    ],
  },
  help: {
    examples: [
      ["gsv help token create", "a command"],
      ["gsv help fs.read", "a syscall"],
      ["gsv help syscalls", "all syscalls"],
    ],
  },
};
