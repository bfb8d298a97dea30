// An agent's call waits for a device that was online recently, for a limited time.

import { expect, it } from "vitest";
import { SysError } from "../../lib/sys-error.ts";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { DeviceWaiter } from "./device-waiter.ts";

const AWAY = new SysError(503, "Device offline: laptop");

function stage(lastSeenAt: number | null) {
  const state = { now: 1_000_000, online: false, sent: [] as boolean[] };
  const get = () => (lastSeenAt === null ? undefined : ({ online: state.online, lastSeenAt } as never));
  const waiter = new DeviceWaiter(
    fakeStore({
      devices: { get },
      get now() {
        return state.now;
      },
    }),
  );
  const send = async (isRepeat: boolean) => {
    state.sent.push(isRepeat);
    if (!state.online) throw AWAY;
    return "done";
  };
  return { state, waiter, run: (signal = new AbortController().signal) => waiter.run("laptop", send, signal) };
}

it("sends the same call again when the device is back", async () => {
  const { state, waiter, run } = stage(999_000);
  const answer = run();
  await expect.poll(() => waiter.nextDueAt()).toBe(1_020_000);
  state.online = true;
  waiter.onDeviceConnected("another");
  waiter.onDeviceConnected("laptop");
  expect(await answer).toBe("done");
  expect(state.sent).toEqual([false, true]);
  expect(waiter.nextDueAt()).toBeNull();
});

it("gives up after the timeout, on abort, and at once if the device was not online recently", async () => {
  const late = stage(999_000);
  const answer = late.run();
  await expect.poll(() => late.waiter.nextDueAt()).toBe(1_020_000);
  late.waiter.onWake((late.state.now = 1_020_000));
  await expect(answer).rejects.toBe(AWAY);
  const aborted = stage(999_000);
  const abort = new AbortController();
  const stopped = aborted.run(abort.signal);
  await expect.poll(() => aborted.waiter.nextDueAt()).not.toBeNull();
  abort.abort();
  await expect(stopped).rejects.toBe(AWAY);
  for (const seen of [null, 1_000]) {
    const gone = stage(seen);
    await expect(gone.run()).rejects.toBe(AWAY);
    expect(gone.state.sent).toEqual([false]);
  }
});
