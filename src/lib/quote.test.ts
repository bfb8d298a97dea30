import { expect, test } from "vitest";
import { commandLine, quoted } from "./quote.ts";

test("several words stay what they are; one is a line", () => {
  expect(commandLine(["ls | wc -l"])).toBe("ls | wc -l");
  expect(commandLine(["echo", "a b", "it's", "$x", "", "-l", "漢"])).toBe("echo 'a b' 'it'\\''s' '$x' '' -l '漢'");
  expect(quoted("a\nb")).toBe("'a\nb'");
});
