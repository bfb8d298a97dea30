import { expect, test } from "vitest";
import { joinCommandLine, shellQuote } from "./quote.ts";

test("several words are quoted as arguments, and a single word is a whole line", () => {
  expect(joinCommandLine(["ls | wc -l"])).toBe("ls | wc -l");
  expect(joinCommandLine(["echo", "a b", "it's", "$x", "", "-l", "漢"])).toBe("echo 'a b' 'it'\\''s' '$x' '' -l '漢'");
  expect(shellQuote("a\nb")).toBe("'a\nb'");
});
