// Names of tools as people read them. Apart from the rest because the first screen of the web desktop needs nothing else of it.

/** The tool of a model that runs scripts. */
const SCRIPT_TOOL = "CodeMode";

export function isScriptTool(name: string): boolean {
  return name === SCRIPT_TOOL;
}

/** The name under which scripts call tools of MCP servers. */
const MCP_TOOL = "MCP";

export function isMcpTool(name: string): boolean {
  return name === MCP_TOOL;
}

/** What is asked about, for people. The target of an MCP tool names the tool and its server. */
export function nameOfAction({ toolName, target }: { toolName: string; target: string }): string {
  if (isMcpTool(toolName)) return target;
  return `${nameOfTool(toolName)} on ${target === "gsv" ? "the gateway" : target}`;
}

/** The name of a tool for people. */
export function nameOfTool(name: string): string {
  return isScriptTool(name) ? "Script" : name;
}
