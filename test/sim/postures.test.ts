// A posture ends in time, whatever happens to the gateway meanwhile, and its owner's clients are told.

import { expect, it } from "vitest";
import { TRUSTED_MS } from "../../src/approval/posture.ts";
import { TimedWorld } from "./timed-world.ts";

type Settings = { effective: { posture: string }; settings: { posture: string | null } };

it("ends after a day, with an event, also if the gateway crashes or is down at that time", async () => {
  const world = await TimedWorld.make();
  const read = () => world.call<Settings>("proc.settings.get", {});
  const announced = () =>
    world.heard.get(world.alice)!.filter((frame) => frame.signal === "proc.changed" && JSON.stringify(frame).includes('"settings"'));
  await world.call("proc.settings.set", { posture: "trusted" });
  await world.pass(60_000);
  world.crash();
  await world.start();
  expect((await read()).effective.posture).toBe("trusted");
  await world.pass(TRUSTED_MS);
  expect(announced()).toHaveLength(1);
  expect(await read()).toMatchObject({ effective: { posture: "careful" }, settings: { posture: null } });

  await world.call("proc.settings.set", { posture: "trusted" });
  await world.pass(60_000);
  await world.restart(TRUSTED_MS);
  expect((await read()).effective.posture).toBe("careful");
  await world.pass(1_000);
  expect((await read()).settings.posture).toBe(null);
});
