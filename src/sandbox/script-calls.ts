// The calls that a script may make, each with the tool of agents that does the same, and the ids of such calls. Everything else is
// refused, whatever a script finds inside the engine.

export const TOOL_OF_SCRIPT_CALL: ReadonlyMap<string, string> = new Map([
  ["shell.exec", "Shell"],
  ["fs.read", "Read"],
  ["fs.write", "Write"],
  ["fs.edit", "Edit"],
  ["fs.delete", "Delete"],
  ["fs.search", "Search"],
  ["sys.mcp.call", "MCP"],
]);

const ID_PREFIX = "codemode-";

export function makeScriptCallId(uuid: string): string {
  return `${ID_PREFIX}${uuid}`;
}

/** Whether a script makes the call, and not the model itself. */
export function isScriptCallId(callId: string): boolean {
  return callId.startsWith(ID_PREFIX);
}
