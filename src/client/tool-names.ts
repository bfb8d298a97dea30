// Names of tools as people read them. Apart from the rest because the first screen of the web desktop needs nothing else of it.

/** The tool of a model that runs scripts. */
const SCRIPT_TOOL = "CodeMode";

export function isScriptTool(name: string): boolean {
  return name === SCRIPT_TOOL;
}

/** The name of a tool for people. */
export function nameOfTool(name: string): string {
  return isScriptTool(name) ? "Script" : name;
}
