import { expect, test, vi } from "vitest";
import { CallError, ConnectionLost } from "../../client/connection.ts";
import { Problem, printError } from "./problem.ts";

test("a failure prints one line, whatever the gateway's message contains", () => {
  const message = "no\ngsv: all is well\u001b]0;title\u0007\r\u009b2K";
  for (const error of [
    new CallError({ code: 401, message }),
    new ConnectionLost(1008, message),
    new Problem(message),
    new Error(message),
  ]) {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    printError(error);
    const printed = write.mock.calls.map(([text]) => String(text)).join("");
    write.mockRestore();
    expect(printed).toMatch(/^gsv: [^\p{Cc}]*no\\x0agsv: all is well\\x1b\]0;title\\x07\\x0d\\x9b2K[^\p{Cc}]*\n$/u);
  }
});
