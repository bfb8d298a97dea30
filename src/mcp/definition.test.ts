import { expect, test } from "vitest";
import { TOOLS_MAX, toToolSummaries } from "./definition.ts";

test("keys of schemas are in order at every depth, and the order of lists is kept", () => {
  const schema = { type: "object", properties: { b: { enum: ["z", "a"], type: "string" }, a: {} }, required: ["b", "a"] };
  const { tools } = toToolSummaries([{ name: "t", description: "d", inputSchema: schema }]);
  expect(JSON.stringify(tools[0]?.inputSchema)).toBe(
    '{"properties":{"a":{},"b":{"enum":["z","a"],"type":"string"}},"required":["b","a"],"type":"object"}',
  );
  expect(tools[0]).toMatchObject({ description: "d", outputSchema: null });
});

test("what is not a schema is none, and a key that is a name of the language is data", () => {
  const own = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Record<string, unknown>;
  const { tools } = toToolSummaries([{ name: "t", inputSchema: [1], outputSchema: own }]);
  expect(tools[0]?.inputSchema).toBeNull();
  expect(JSON.stringify(tools[0]?.outputSchema)).toBe('{"__proto__":{"x":1},"constructor":2}');
});

test("names that are empty, too long or there already, and definitions that are too large, are left out", () => {
  const named = (name: string) => ({ name, inputSchema: { type: "object" } });
  const large = { name: "large", description: "x".repeat(70_000) };
  const { tools, leftOut } = toToolSummaries([named("a"), named("a"), named(""), named("x".repeat(300)), large, named("b")]);
  expect([tools.map(({ name }) => name), leftOut]).toEqual([["a", "b"], 4]);
});

test("there are at most so many tools, and so many characters of them", () => {
  const many = Array.from({ length: TOOLS_MAX + 10 }, (_, n) => ({ name: `t${n}` }));
  expect(toToolSummaries(many)).toMatchObject({ leftOut: 10 });
  const wide = Array.from({ length: 40 }, (_, n) => ({ name: `t${n}`, description: "x".repeat(50_000) }));
  expect(toToolSummaries(wide).tools.length).toBeLessThan(22);
});
