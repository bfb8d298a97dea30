import { expect, test } from "vitest";
import { makeCodeVisible } from "./visible-code.ts";
import { makeVisible } from "./visible.ts";

test("code keeps the indentation of its lines, and everything else in it is made visible", () => {
  const code = `if (a) {\n${" ".repeat(12)}f("\u202e");\n\t\tg();\n}`;
  expect(makeVisible(code)).toContain("⟨12 spaces⟩");
  expect(makeCodeVisible(code)).toBe(`if (a) {\n${" ".repeat(12)}f("⟨U+202E⟩");\n\t\tg();\n}`);
});

test("code cannot push its lines out of sight", () => {
  expect(makeCodeVisible(`${" ".repeat(200)}f();`)).toBe("⟨200 spaces⟩f();");
  expect(makeCodeVisible(`f();${" ".repeat(200)}g(); `)).toBe("f();⟨200 spaces⟩g();⟨1 space⟩");
  expect(makeCodeVisible("f();\n\n\n\n\n\ng();")).toBe("f();\n⟨5 empty lines⟩\ng();");
});
