// The requests that the demo model understands, one row each. The first row that matches decides.

export type Intent = { tool: string; args: Record<string, unknown>; saying: string };

export const HELP = `I am the demo model, not an AI. I only know a few plain requests, which show how an agent works here:
- list files in ~/notes
- read ~/notes/shopping.md
- write a note: water the plants
- write "hello" to ~/hello.txt
- replace "hello" with "good day" in ~/hello.txt
- search for plants in ~/notes
- delete ~/hello.txt
- run uname -a
- show devices
- show tools of my MCP servers
- call echo with {"message": "hello"}, for a tool called echo
- run script: return (await fs.read({ path: "~" })).files
- remember that my bike is blue, and later: what do you remember?
Add "on <device>" to work on one of your machines, such as: run df -h on laptop.
For a real model, set a provider: gsv config set config/ai/provider anthropic, then config/ai/model and config/ai/api_key the same way.`;

export const NOT_UNDERSTOOD = `I did not understand that. ${HELP}`;

const MEMORY = "~/knowledge/remembered";

type Row = { when: RegExp; means: (found: Found) => Intent | "help" | null };
/** `on` is the target, if one was named. */
type Found = { groups: Record<string, string | undefined>; on: string };

const PATH = String.raw`(?:"[^"]+"|'[^']+'|\`[^\`]+\`|[~./][^\s"']*|[\w-]+(?:[./][\w.-]*)+)`;

/** Free text of people, which may end in words such as "on Monday": no target is parsed from it. */
const FREE_TEXT: Row[] = [
  { when: /^(?:help|hello|hi|hey|what can you do)\b[^a-z]*(?:there)?[.!?]*$/i, means: () => "help" },
  {
    when: /^what do you (?:remember|know about me)\b/i,
    means: () => ({
      tool: "Shell",
      args: { target: "gsv", input: `cat ${MEMORY}/*.md` },
      saying: `Looking at what I was told to remember, in ${MEMORY}.`,
    }),
  },
  {
    when: /^(?:please )?remember (?:that )?(?<text>[\s\S]+)$/i,
    means: ({ groups: { text = "" } }) => makeWriteIntent(`${MEMORY}/${slug(text)}.md`, "gsv", text, "Saving that so that I remember it"),
  },
  {
    when: /^(?:please )?(?:write|make|take|add|save|create)(?: me)? (?:a |another )?note(?: (?:saying|that|about|with))?[:,]? +(?<text>[\s\S]+)$/i,
    means: ({ groups: { text = "" } }) => makeWriteIntent(`~/notes/${slug(text)}.md`, "gsv", text, "Writing a note"),
  },
];

/** Code may end in words such as "at last": no target is parsed from it either. */
const SCRIPTS: Row[] = [
  {
    when: /^(?:run|execute)(?: (?:a|the|this))? script:\s*(?<code>[\s\S]+)$/i,
    means: ({ groups: { code = "" } }) => ({ tool: "CodeMode", args: { code: unquote(code) }, saying: "Running that as a script." }),
  },
  {
    when: /^call (?:the )?(?:tool |function )?(?<name>[A-Za-z_$][\w$]*) with (?<json>\{[\s\S]*\})[.!?]*$/i,
    means: ({ groups: { name = "", json = "" } }) => (isJson(json) ? makeCallIntent(name, json) : null),
  },
  {
    when: /^call (?:the )?(?:tool|function) (?<name>[A-Za-z_$][\w$]*)[.!?]*$/i,
    means: ({ groups: { name = "" } }) => makeCallIntent(name, "{}"),
  },
  {
    when: /^(?:show|list|see|which|what)(?: me)?(?: (?:all|my|the|mcp))* (?:tools|integrations|mcp servers)\b[^/~]*$/i,
    means: () => ({
      tool: "CodeMode",
      args: { code: 'return [...new Set(mcpTools.map((tool) => `${tool.toolName} of ${tool.serverName}`))].join("\\n") || "None yet";' },
      saying: "Looking at the tools of your MCP servers.",
    }),
  },
];

const COMMANDS: Row[] = [
  {
    when: /\b(?:show|list|which|what|see)\b.*\b(?:devices|machines|computers|targets)\b/i,
    means: () => ({ tool: "Read", args: { target: "gsv", path: "/sys/devices" }, saying: "Looking at the devices the gateway knows." }),
  },
  {
    when: /^(?:run|execute|\$) *(?<input>[\s\S]+)$/i,
    means: ({ groups: { input = "" }, on }) => ({
      tool: "Shell",
      args: { target: on, input: unquote(input) },
      saying: `Running that on ${on}.`,
    }),
  },
  {
    when: new RegExp(`^(?:write|save|put) (?<text>[\\s\\S]+?) (?:to|into|in) (?:the )?(?:file )?(?<path>${PATH})$`, "i"),
    means: ({ groups: { text = "", path = "" }, on }) => makeWriteIntent(unquote(path), on, unquote(text), "Writing the file"),
  },
  {
    when: new RegExp(
      `^replace (?<from>${quotedPattern()}) (?:with|by) (?<to>${quotedPattern()}) in (?:the )?(?:file )?(?<path>${PATH})$`,
      "i",
    ),
    means: ({ groups: { from = "", to = "", path = "" }, on }) => ({
      tool: "Edit",
      args: { target: on, path: unquote(path), oldString: unquote(from), newString: unquote(to) },
      saying: `Changing ${unquote(path)} on ${on}.`,
    }),
  },
  {
    when: new RegExp(`^(?:search|find|grep|look)(?: for)? (?<query>[\\s\\S]+?) (?:in|under|below) (?<path>${PATH})$`, "i"),
    means: ({ groups: { query = "", path = "" }, on }) => ({
      tool: "Search",
      args: { target: on, query: unquote(query), path: unquote(path) },
      saying: `Searching ${unquote(path)} on ${on}.`,
    }),
  },
  {
    when: new RegExp(`^(?:delete|remove|rm) (?:the )?(?:file |folder |directory )?(?<path>${PATH})$`, "i"),
    means: ({ groups: { path = "" }, on }) => ({
      tool: "Delete",
      args: { target: on, path: unquote(path) },
      saying: `Deleting ${unquote(path)} on ${on}.`,
    }),
  },
  {
    when: new RegExp(
      `^(?:list|show|ls|what(?: is|'s| are)?)(?: me)?(?: (?:all|my|the))*(?: (?:files|folders|directory|folder|home))*(?: (?:in|of|under|at|there))*(?: (?:the )?(?:directory |folder )?(?<path>${PATH}))?$`,
      "i",
    ),
    means: ({ groups: { path }, on }) => makeReadIntent(path === undefined ? "~" : unquote(path), on),
  },
  {
    when: new RegExp(`^(?:read|open|cat|print|show)(?: me)?(?: the)?(?: file| content of| contents of)? (?<path>${PATH}|[\\w-]+)$`, "i"),
    means: ({ groups: { path = "" }, on }) => makeReadIntent(unquote(path), on),
  },
];

export function parseIntent(text: string): Intent | "help" | null {
  const request = text
    .trim()
    .replace(/^(?:please|could you|can you|would you)(?: please)?[, ]+/i, "")
    .replace(/,? please[.!?]*$/i, "");
  const freeText = findIntent([...FREE_TEXT, ...SCRIPTS], request, "gsv");
  if (freeText !== null) return freeText;
  const plain = request.replace(/(?<![.~/])[.?!]+$/, "");
  const withTarget = /^(?<rest>[\s\S]+?) (?:on|at) (?:my |the )?(?:device |machine )?(?<on>[\w][\w.-]*)$/i.exec(plain);
  if (withTarget?.groups === undefined) return findIntent(COMMANDS, plain, "gsv");
  return findIntent(COMMANDS, withTarget.groups.rest ?? "", withTarget.groups.on ?? "gsv");
}

function findIntent(rows: readonly Row[], text: string, on: string): Intent | "help" | null {
  for (const { when, means } of rows) {
    const found = when.exec(text);
    if (found !== null) return means({ groups: found.groups ?? {}, on });
  }
  return null;
}

function makeReadIntent(path: string, on: string): Intent {
  return { tool: "Read", args: { target: on, path }, saying: `Reading ${path} on ${on}.` };
}

function makeWriteIntent(path: string, on: string, text: string, what: string): Intent {
  return { tool: "Write", args: { target: on, path, content: `${text.trim()}\n` }, saying: `${what}: ${path} on ${on}.` };
}

/** Calls a tool of an MCP server by its function. */
function makeCallIntent(name: string, json: string): Intent {
  return { tool: "CodeMode", args: { code: `return await ${name}(${json});` }, saying: `Calling ${name} in a script.` };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Removes the quotation marks around a text. */
function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(["'`])([\s\S]*)\1$/.exec(trimmed)?.[2] ?? trimmed;
}

function quotedPattern(): string {
  return String.raw`(?:"[^"]*"|'[^']*'|\`[^\`]*\`|\S+)`;
}

/** A file name made of the first words. */
function slug(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.slice(0, 6).join("-").slice(0, 60) || "note";
}
