import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: "test/support/empty-home.ts",
    pool: "threads",
    isolate: false,
    // Many tests wait for a clock or a process: two at a time, whatever the machine has.
    maxWorkers: 2,
    // A guard against hangs, not a measure: machines of others are several times slower than ours.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
