// The input of a model that guides, and how its answer is read.

import { describe, expect, test } from "vitest";
import type { OnboardingDraft } from "../../protocol/onboarding.ts";
import { parseGuidance, redactGuideInput } from "./guide.ts";
import { redact } from "../../lib/redact.ts";

const DRAFT: OnboardingDraft = {
  lane: "advanced",
  mode: "guided",
  stage: "details",
  detailStep: "ai",
  account: { username: "ada", password: "violet-umbrella", passwordConfirm: "violet-umbrella" },
  admin: { mode: "custom", password: "granite teapot" },
  system: { timezone: "Europe/Berlin" },
  ai: { enabled: true, provider: "openai", model: "gpt", apiKey: "sk-proj-abcdef123456" },
  source: { enabled: false, value: "", ref: "" },
  device: { enabled: true, deviceId: "laptop", label: "violet-umbrella", expiryDays: "30" },
};

describe("the input of the guide", () => {
  test("contains no secret of the draft, wherever it was typed", () => {
    const shown = redactGuideInput({
      lane: "advanced",
      draft: DRAFT,
      messages: [{ role: "user", content: "violet-umbrella and granite teapot, key sk-proj-abcdef123456" }],
    });
    const text = JSON.stringify(shown);
    for (const secret of ["violet-umbrella", "granite teapot", "sk-proj-abcdef123456"]) expect(text).not.toContain(secret);
    expect(shown.draft.account).toEqual({ username: "ada", password: "", passwordConfirm: "" });
    expect(shown.draft.system.timezone).toBe("Europe/Berlin");
  });

  test("contains only the last eight messages", () => {
    const messages = Array.from({ length: 12 }, (_, at) => ({ role: "user" as const, content: `number ${at}` }));
    expect(redactGuideInput({ lane: "quick", draft: DRAFT, messages }).messages.map(({ content }) => content)).toEqual(
      Array.from({ length: 8 }, (_, at) => `number ${at + 4}`),
    );
  });

  test.each([
    ["my password is hunter2", "hunter2"],
    ["Password: correct-horse please", "correct-horse"],
    ['the password should be "two words"', "two words"],
    ["set the admin password to Xy12!zz", "Xy12!zz"],
    ["mein Passwort ist geheim1", "geheim1"],
    ["api key=abc123", "abc123"],
    ["use sk-ant-api03-AbCdEfGhIjK", "sk-ant-api03-AbCdEfGhIjK"],
    ["AIzaSyA1234567890abcdefghij", "AIzaSyA1234567890abcdefghij"],
    ["it is gsk_abcdefghijklmnop", "gsk_abcdefghijklmnop"],
    ["Authorization: Bearer abcdefgh.ijkl", "abcdefgh.ijkl"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJhbGciOiJIUzI1NiJ9"],
    ["paste: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c", "9f86d081884c7d65"],
    ["gsv_node_0123456789abcdef", "0123456789abcdef"],
    ["my server is http://ada:hunter2@10.0.0.5/v1", "hunter2"],
    ["-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----", "MIIEvQ"],
  ])("does not contain the secret in %j", (text, secret) => {
    expect(redact(text, [])).not.toContain(secret);
  });

  test.each([
    "Call me Ada, I live in America/Argentina/Buenos_Aires",
    "Use Ollama with qwen3:30b-a3b",
    "connect a machine called build-server-2",
    "my key is [key entered in the form], my password is [secret removed]",
  ])("contains %j unchanged", (text) => expect(redact(text, [])).toBe(text));
});

describe("the answer of the guide", () => {
  const answer = {
    message: "Hello",
    reviewReady: true,
    focus: "ai.apiKey",
    patches: [{ op: "set", path: "account.username", value: "ada" }],
  };

  test.each([
    ["bare", JSON.stringify(answer)],
    ["fenced", `Sure:\n\`\`\`json\n${JSON.stringify(answer, null, 2)}\n\`\`\`\nDone.`],
    ["between words", `I think ${JSON.stringify(answer)} will do`],
  ])("is read %s", (_, text) => expect(parseGuidance(text)).toEqual(answer));

  test.each(["", "hello", "[]", "null", "{}", '{"message": 7}', '{"message": "cut off', "}{"])("is null if the text is %j", (text) =>
    expect(parseGuidance(text)).toBeNull(),
  );

  test("keeps only listed paths with values of the right type that are not secrets", () => {
    const hostile = {
      message: "<script>alert(1)</script>",
      reviewReady: "yes",
      focus: "javascript:alert(1)",
      patches: [
        { op: "set", path: "account.password", value: "mine now" },
        { op: "set", path: "ai.apiKey", value: "sk-evil-000000000000" },
        { op: "set", path: "ai.baseUrl", value: "http://evil.example" },
        { op: "set", path: "__proto__.polluted", value: "yes" },
        { op: "set", path: ["account.username"], value: "x" },
        { op: "run", path: "account.username", value: "x" },
        { op: "set", path: "account.username", value: { toString: "x" } },
        { op: "set", path: "account.username" },
        { op: "set", path: "ai.enabled", value: "perhaps" },
        { op: "set", path: "admin.mode", value: "none" },
        { op: "set", path: "system.timezone", value: "Mars/Olympus" },
        { op: "set", path: "device.label", value: "sk-proj-abcdef1234567890" },
        { op: "set", path: "device.label", value: "x".repeat(300) },
        null,
        "account.username",
        { op: "set", path: "device.expiryDays", value: 30 },
        { op: "set", path: "ai.enabled", value: "true" },
        { op: "clear", path: "ai.model", value: "ignored" },
      ],
    };
    expect(parseGuidance(JSON.stringify(hostile))).toEqual({
      message: "<script>alert(1)</script>",
      reviewReady: false,
      patches: [
        { op: "set", path: "device.expiryDays", value: "30" },
        { op: "set", path: "ai.enabled", value: true },
        { op: "clear", path: "ai.model" },
      ],
    });
  });
});
