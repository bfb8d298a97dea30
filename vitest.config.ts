import { availableParallelism } from "node:os";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { defineConfig } from "vitest/config";

/** What takes longest, longest first: begun last, it would leave the other workers with nothing to do. */
const LONG = [
  "conformance/cloudflare.test",
  "conformance/node.test",
  "web/settings",
  "web/chat.test",
  "shell/snippets",
  "-waits.test",
  "web/",
  "repo/git-http",
  "node-floods",
  "test/cli/",
  "hosts/git",
  "hosts/node-host",
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((part) => moduleId.includes(part));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["test/support/empty-home.ts", "test/support/current-build.ts"],
    // Not threads: to start a program, a process is copied, and one of two gigabytes takes a tenth of a second for each.
    pool: "forks",
    isolate: false,
    // Two more than there are cores: many tests wait for a process or a browser.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongFirst },
    // A guard against hangs, not a measure: machines of others are several times slower than ours.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
