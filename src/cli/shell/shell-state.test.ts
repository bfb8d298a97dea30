import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ReportExtractor, ShellState } from "./shell-state.ts";

const PART = "\u001e";
const report = (declared: string, { status = 0, cwd = "/home/alice", before = "" } = {}) =>
  [status, cwd, before, "/home/alice", "alice", 1000, declared, ""].join(PART);

test("the state is restored before the next line, on the same line", () => {
  const state = new ShellState({ home: "/home/alice", username: "alice" });
  state.applyReport(report('declare -x HOME="/home/alice"\ndeclare -- ?="0"\n'));
  expect(state.makeScript("ls", "MARK")).toMatch(/^\(exit 0\); ls\n\{ printf 'MARK/);
  const declared =
    'declare -x HOME="/home/alice"\ndeclare -- ?="3"\ndeclare -- x="5"\ndeclare -x Y="a\nb"\ndeclare -a PIPESTATUS=([0]="0")\n';
  state.applyReport(report(declared, { status: 3, cwd: "/tmp/it's", before: "/home/alice" }));
  expect(state.makeScript("ls", "MARK").split("\n{ printf")[0]).toBe(
    `declare -- x="5"; declare -x Y="a\nb"; cd /home/alice >/dev/null 2>&1; cd '/tmp/it'\\''s'; (exit 3); ls`,
  );
});

test("variables that are too large are not kept, and learn returns false", () => {
  const state = new ShellState({ home: "/home/alice", username: "alice" });
  state.applyReport(report(""));
  expect(state.applyReport(report(`declare -- x="${"y".repeat(70_000)}"\n`, { cwd: "/tmp" }))).toBe(false);
  expect(state.cwd).toBe("/tmp");
  expect(state.makeScript("ls", "M")).not.toContain("yyy");
});

test("a report is removed from the output however the output is split", () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.nat(200)), (before, cuts) => {
      const extractor = new ReportExtractor();
      // The output of a command may start like a mark.
      const all = `${before}${extractor.mark.slice(0, 9)}${extractor.mark}the report`;
      const places = [0, ...cuts.map((cut) => cut % all.length).toSorted((a, b) => a - b), all.length];
      const shown = places.slice(1).map((end, at) => extractor.filterText(all.slice(places[at], end)));
      expect(shown.join("") + extractor.heldBackText()).toBe(`${before}${extractor.mark.slice(0, 9)}`);
      expect(extractor.text).toBe("the report");
    }),
  );
});

test("without a report all output is shown in the end", () => {
  const extractor = new ReportExtractor();
  expect(extractor.filterText(`a${PART}`) + extractor.heldBackText()).toBe(`a${PART}`);
});
