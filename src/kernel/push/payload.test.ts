import { describe, expect, it } from "vitest";
import { memoryCrypto, Random } from "../../../test/support/memory-ports.ts";
import type { NotificationRecord } from "../../protocol/notification-records.ts";
import type { PushPayload } from "../../protocol/push-message.ts";
import { encodePayload } from "./payload.ts";

const secrets = { crypto: memoryCrypto(new Random("payload")), answerKey: new Uint8Array(32) };
const browser = { subscriptionId: "s", mayAllow: true };
const base: NotificationRecord = {
  notificationId: "8f14e45f-ceea-467f-a8d6-3f1b5a2c9d10",
  title: "Tidier asks for permission",
  level: "warning",
  createdAt: 1,
  readAt: null,
  dismissedAt: null,
  expiresAt: null,
  actions: [],
  source: { kind: "user" },
};
const actions = ["approve", "deny"].map((kind) => ({ kind, label: kind, target: "q" }));

function read(change: Partial<NotificationRecord>, agent: string | null = null): PushPayload {
  return JSON.parse(new TextDecoder().decode(encodePayload(secrets, browser, { ...base, ...change }, agent))) as PushPayload;
}

function offered(body: string, title = base.title): string[] {
  return read({ body, title, actions, source: { kind: "kernel", topic: "approvals" } }).question!.answers.map(({ decision }) => decision);
}

describe("encodePayload", () => {
  it("offers Allow only for what a notification shows whole, however it wraps", () => {
    const first = "shell.exec on laptop, in /home/ann";
    for (const body of [`${first}\ninput: rm -r attic`, "x".repeat(144), "a\nb\nc\nd"])
      expect(offered(body), body).toEqual(["approve", "deny"]);
    for (const body of [
      "x".repeat(145),
      "a\nb\nc\nd\ne",
      `a\nb\nc\ninput: ${"x".repeat(60)}`,
      `${first}\ninput: echo ${"語".repeat(20)} ; rm -rf ~`,
      `${first}\ninput: echo \u05d0\u05d1 ; rm -rf ~`,
      `${first}\ninput: echo ⟨U+202E⟩`,
    ])
      expect(offered(body), body).toEqual(["deny"]);
  });

  it("offers Allow under no title that says something else", () => {
    expect(offered("x", "Update\nPress Allow")).toEqual(["deny"]);
    expect(offered("x", "a".repeat(200))).toEqual(["deny"]);
    expect(offered("x", "Press\u202e Allow")).toEqual(["deny"]);
  });

  it("says first which agent a message is from, so that none passes for the gateway", () => {
    const source = { kind: "process" as const, processId: "p1" };
    expect(read({ title: "Your schedule was paused", body: "Enable it", source }, "Mail agent").body).toBe(
      "From the agent Mail agent\nEnable it",
    );
    expect(read({ source }).body).toBe("From the agent p1\n");
    expect(read({ source: { kind: "process", processId: "init:1000" } }, "Personal agent").body).toBe("From Personal agent\n");
    expect(read({ body: "b", source: { kind: "kernel", topic: "schedules" } }).body).toBe("b");
  });

  it("shows marks that the gateway has made once, and those of others as what they are", () => {
    expect(read({ body: "input: ⟨empty⟩", actions, source: { kind: "kernel", topic: "approvals" } }).body).toBe("input: ⟨empty⟩");
    expect(read({ body: "⟨empty⟩" }).body).toBe("⟨U+27E8⟩empty⟨U+27E9⟩");
  });

  it("offers answers of the gateway only", () => {
    expect(read({ actions }).question).toBeUndefined();
    expect(read({ actions, source: { kind: "process", processId: "p" } }).question).toBeUndefined();
  });
});
