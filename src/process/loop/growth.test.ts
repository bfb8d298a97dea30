// The cost of a page and of a turn depends on the page and the model's window, not on the length of the history. The test counts
// rows and statements, because times would depend on the machine.

import { expect, it } from "vitest";
import { text, World } from "../../../test/support/process-world.ts";

type Cost = { statements: number; rows: number };

async function costs(messages: number): Promise<{ page: Cost; cursor: Cost; turn: Cost }> {
  const world = new World();
  world.say("hi");
  await world.idle();
  world.sql.transaction(() => {
    for (let at = 0; at < messages; at++)
      world.process.history.append(
        "default",
        null,
        at % 2 === 0 ? { role: "user", text: `${at}`.padStart(400) } : { role: "assistant", blocks: [text(`${at}`.padStart(400))] },
        world.now,
      );
  });
  world.on("measure", [text("measured")]);
  world.say("measure");
  await world.idle();
  const cost = { statements: 0, rows: 0 };
  const all = world.sql.all.bind(world.sql);
  const get = world.sql.get.bind(world.sql);
  const run = world.sql.run.bind(world.sql);
  world.sql.all = (...query) => count(all(...query));
  world.sql.get = (...query) => count([get(...query)])[0];
  world.sql.run = (...query) => {
    cost.statements++;
    return run(...query);
  };
  function count<T>(rows: T[]): T[] {
    cost.statements++;
    cost.rows += rows.length;
    return rows;
  }
  const takeCost = () => {
    const { statements, rows } = cost;
    cost.statements = cost.rows = 0;
    return { statements, rows };
  };
  const { messages: shown, messageCount } = world.process.conversation.history({ limit: 50, offset: messages - 50 }, null);
  expect([shown.length, messageCount]).toEqual([50, messages + 4]);
  const page = takeCost();
  const { messages: before } = world.process.conversation.history({ limit: 50, beforeMessageId: shown[0]!.id }, null);
  expect(before.at(-1)!.id).toBe(shown[0]!.id - 1);
  const cursor = takeCost();
  world.on("and?", [text("next")]);
  world.process.send({ message: { role: "user", text: "and?" }, reason: "proc.send" });
  await expect.poll(() => world.requests.length).toBe(3);
  world.process.close();
  const turn = takeCost();
  // Only the newest part is sent.
  expect(JSON.stringify(world.requests.at(-1)?.messages)).toContain(`${messages - 1}`.padStart(400));
  world.sql.close();
  return { page, cursor, turn };
}

it("a page and a turn cost the same with a thousand and with ten thousand messages", async () => {
  const { cursor: _, ...small } = await costs(1_000);
  const { cursor, ...large } = await costs(10_000);
  expect(large).toEqual(small);
  // A binary search finds the place of a message.
  expect(cursor.rows).toBeLessThan(large.page.rows + 16);
  expect(large.page.rows).toBeLessThan(70);
  expect(large.turn.rows).toBeLessThan(400);
});
