import { describe, expect, test } from "vitest";
import { nameFunctions, type ServerTools } from "./functions.ts";

const server = (serverId: string, name: string, ...tools: string[]): ServerTools => ({
  serverId,
  name,
  tools: tools.map((tool) => ({ name: tool, description: null, inputSchema: null, outputSchema: null })),
});
const names = (...servers: ServerTools[]) => nameFunctions(servers).map(({ functionName }) => functionName);

describe("names of functions", () => {
  test("a tool that no other server has, by its own name and by that of its server", () => {
    expect(names(server("s1", "Search", "lookup-record"))).toEqual(["lookup_record", "Search_lookup_record"]);
  });

  test("a tool that two servers have, only with the name of its server", () => {
    expect(names(server("s1", "A", "find"), server("s2", "B", "find"))).toEqual(["A_find", "B_find"]);
  });

  test("two servers with the same name, and two tools that become the same name", () => {
    const functions = names(server("s1", "A", "find"), server("s2", "A", "find"), server("s3", "C", "a-b", "a.b"));
    expect(functions).toEqual(["A_find", expect.stringMatching(/^A_find_[0-9a-z]+$/), "C_a_b", expect.stringMatching(/^C_a_b_[0-9a-z]+$/)]);
    expect(new Set(functions).size).toBe(functions.length);
  });

  test.each([
    ["9lives", "_9lives"],
    ["delete", "delete_"],
    ["get issue.list", "get_issue_list"],
    ["über", "ber"],
    ["日本", "tool"],
    ["_", "tool"],
    ["$a", "$a"],
    ["Promise", "Promise_"],
    ["eval", "eval_"],
  ])("%s becomes %s", (tool, name) => expect(names(server("s", "S", tool))[0]).toBe(name));

  test("names that scripts have already are only used with the name of the server", () => {
    expect(names(server("s", "S", "shell", "fs", "args", "setTimeout", "console", "__mcp"))).toEqual([
      "S_shell",
      "S_fs",
      "S_args",
      "S_setTimeout",
      "S_console",
      "S___mcp",
    ]);
  });

  test("no server takes the qualified name of another's tool by what it calls its own", () => {
    const functions = nameFunctions([server("s1", "A", "b"), server("s2", "X", "A_b")]);
    expect(functions.map(({ functionName, serverId }) => [functionName, serverId])).toEqual([
      ["b", "s1"],
      ["A_b", "s1"],
      ["X_A_b", "s2"],
    ]);
  });

  test("no server takes the qualified name of another that is not ready", () => {
    const [linear, other] = [server("s1", "Linear", "list_issues"), server("s2", "Linear!", "list_issues")];
    expect(nameFunctions([other], [linear, other]).map(({ functionName }) => functionName)).toEqual([
      "list_issues",
      expect.stringMatching(/^Linear_list_issues_[0-9a-z]+$/),
    ]);
  });

  test("a qualified name belongs to the server with the longest name, though another is older", () => {
    const [short, long] = [server("s1", "GitHub", "Enterprise_create_issue"), server("s2", "GitHub-Enterprise", "create_issue")];
    const qualified = nameFunctions([short, long]).find(({ functionName }) => functionName === "GitHub_Enterprise_create_issue");
    expect(qualified?.serverId).toBe("s2");
  });

  test("each function says which tool of which server it calls", () => {
    expect(nameFunctions([server("s1", "My Server", "do it")])[1]).toEqual({
      functionName: "My_Server_do_it",
      serverId: "s1",
      serverName: "My Server",
      toolName: "do it",
      description: null,
      inputSchema: null,
      outputSchema: null,
    });
  });
});
