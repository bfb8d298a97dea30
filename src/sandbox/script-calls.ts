// The calls that a script may make, each with the tool of agents that does the same. Everything else is refused, whatever a script finds
// inside the engine.

export const TOOL_OF_SCRIPT_CALL: ReadonlyMap<string, string> = new Map([
  ["shell.exec", "Shell"],
  ["fs.read", "Read"],
  ["fs.write", "Write"],
  ["fs.edit", "Edit"],
  ["fs.delete", "Delete"],
  ["fs.search", "Search"],
]);
