// The name of an agent: its label, else its kind and the start of its id.

import { expect, test } from "vitest";
import { nameOfAgent, nameOfAgentKind } from "./agent-names.ts";

const upper = (text: string) => text.toUpperCase();

test("the first agent of a user has one name, others have their label, or their kind and the start of their id", () => {
  expect(nameOfAgent({ pid: "init:1000", profile: "init", label: "home" }, upper)).toBe("Personal agent");
  expect(nameOfAgent({ pid: "abcdef123456", profile: "task", label: " taxes " }, upper)).toBe("TAXES");
  expect(nameOfAgent({ pid: "abcdef123456", profile: "task", label: "  " }, upper)).toBe("Helper abcdef");
  expect(nameOfAgent({ pid: "abcdef123456", profile: "cron", label: null }, upper)).toBe("Scheduled work abcdef");
});

test("a kind that is not known keeps its name, made safe to show", () => {
  expect(nameOfAgentKind("gardener", upper)).toBe("GARDENER");
  expect(nameOfAgentKind("constructor", upper)).toBe("CONSTRUCTOR");
});
