import { expect, test } from "vitest";
import { parseSkillHead } from "./skill-head.ts";

const head = (front: string, body = "") => parseSkillHead(`---\n${front}\n---\n${body}`, "Some File");

test.each([
  ["quotes are removed", `name: "bake"\ndescription: 'Bake bread.'`, "bake", "Bake bread."],
  ["a name is lower-case, with hyphens for spaces", "name: Bake  the\tBread", "bake-the-bread", ""],
  ["a folded block is one line", "description: >\n  Bake\n  bread.\nname: bake", "bake", "Bake bread."],
  ["so is a literal block, whatever its marks", "description: |-\n  Bake\n  bread.\nname: bake", "bake", "Bake bread."],
  ["an empty line does not end a block", "description: >-\n  Bake\n\n  bread.\nname: bake", "bake", "Bake bread."],
  ["indented lines continue a value", "description: Bake\n  bread.\nname: bake", "bake", "Bake bread."],
  ["fields of other fields are not taken for its own", "metadata:\n  name: no\n  description: no\nname: bake", "bake", ""],
  ["a value may contain colons", "name: bake\ndescription: Bread: how to", "bake", "Bread: how to"],
  ["lines may end as on Windows", "name: bake\r\ndescription: Bake.\r", "bake", "Bake."],
])("front matter: %s", (_, front, name, description) => {
  expect(head(front)).toEqual({ name, description });
});

test("without a name the file's is taken, and without a description the first line that is no heading", () => {
  expect(head("license: MIT", "\n# Title\n\n---\n  Bake\tbread.\nAnd so on.")).toEqual({ name: "some-file", description: "Bake bread." });
  expect(head('name: ""\ndescription: ""', "# Title\nBake.")).toEqual({ name: "some-file", description: "Bake." });
  expect(parseSkillHead("\uFEFF---\nname: bake\n---\n", "x")).toEqual({ name: "bake", description: "" });
  expect(parseSkillHead("---\nname: never closed", "x")).toEqual({ name: "x", description: "name: never closed" });
});

test("a description has at most 220 characters", () => {
  expect(head(`description: ${"a".repeat(220)}`).description).toBe("a".repeat(220));
  expect(head(`description: ${"a".repeat(221)}`).description).toBe(`${"a".repeat(217)}...`);
  expect(head("", "b".repeat(300)).description).toBe(`${"b".repeat(217)}...`);
});
