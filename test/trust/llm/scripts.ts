// What the recorded models say: every kind of block, alone and mixed, with multi-byte characters, arguments full of braces and
// quotes, and empty arguments.

import type { Script } from "../../support/models/script.ts";

const READ = JSON.stringify({ target: "gsv", path: "/etc/motd" });
const WRITE = JSON.stringify({
  target: "laptop",
  path: "~/nötes/ünïcode 🙂.md",
  content: 'Line one\n{"json": [1, 2, {"deep": "}]"}]}\n\ttab "quoted" \\ back\\\\slash\n',
});
const NESTED = JSON.stringify({ input: 'for f in *; do echo "$f"; done', env: { A: ["{", "}", '"'], B: null, C: -1.5e3 } });

export const SCRIPTS: Readonly<Record<string, Script>> = {
  text: {
    say: [
      { type: "text", text: "The quick brown fox jumps over the lazy dog. Zwölf Boxkämpfer jagen Viktor 🙂 quer über den Sylter Deich." },
    ],
  },
  thoughts: {
    say: [
      { type: "thinking", text: "They ask for the time. I should look at the clock first, wörd by wörd." },
      { type: "text", text: "It is late." },
    ],
  },
  call: {
    say: [
      { type: "text", text: "Let me look." },
      { type: "call", id: "call_one", name: "Read", args: READ },
    ],
  },
  calls: {
    say: [
      { type: "thinking", text: "Three things at once." },
      { type: "call", id: "call_one", name: "Read", args: READ },
      { type: "call", id: "call_two", name: "Write", args: WRITE },
      { type: "call", id: "call_three", name: "Shell", args: NESTED },
    ],
  },
  blank: { say: [{ type: "call", id: "call_one", name: "Read", args: "{}" }] },
  limit: { say: [{ type: "text", text: "This goes on and on and" }], stop: "length" },
};
