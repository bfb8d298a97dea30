// RecentMessages caches rows between steps: the result must equal a fresh read.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { Conversations } from "../rows/conversations.ts";
import { History } from "../rows/history.ts";
import { RecentMessages } from "./recent-messages.ts";
import { migrate } from "../rows/schema.ts";

test("returns the same rows as a fresh read, whatever happens to the conversation between two steps", () => {
  const said = fc.record({ kind: fc.constant("say"), chars: fc.integer({ min: 0, max: 400 }) });
  const fold = fc.record({ kind: fc.constant("fold"), chars: fc.integer({ min: 0, max: 5 }) });
  const other = fc.record({ kind: fc.constantFrom("clear", "other", "forget", "room"), chars: fc.constant(50) });
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 5, arbitrary: said }, fold, other), { maxLength: 30 }), (steps) => {
      const sql = new MemorySql();
      migrate(sql, 0);
      const [history, conversations, recent] = [new History(sql), new Conversations(sql), new RecentMessages()];
      conversations.open("other", undefined, 0);
      let [conversationId, tokensMax] = ["default", 300];
      for (const [at, { kind, chars }] of steps.entries()) {
        const { first, next } = history.bounds(conversationId);
        if (kind === "say") history.append(conversationId, null, { role: "user", text: `${at} ${"x".repeat(chars)}` }, at);
        else if (kind === "fold" && next > first)
          history.replaceThrough(conversationId, Math.min(next - 1, first + chars), { role: "system", text: `sum ${at}` }, at);
        else if (kind === "clear") history.clear(conversationId);
        else if (kind === "other") conversationId = conversationId === "other" ? "default" : "other";
        else if (kind === "forget") recent.forget();
        else if (kind === "room") tokensMax = 400 - tokensMax;
        expect(recent.read(history, conversationId, tokensMax)).toEqual(new RecentMessages().read(history, conversationId, tokensMax));
      }
    }),
    { numRuns: 300 },
  );
});
