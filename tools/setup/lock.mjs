// A lock between processes of one clone: one of them prepares, the others wait. Node has no file locks, so it is a file that
// names its holder. A holder that has exited, or whose heartbeat stopped for a minute, loses it. Plain JavaScript without
// dependencies, because it runs before there are any.

import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const POLL_MS = 100;
const HEARTBEAT_MS = 5_000;
/** Measured by the waiting process, so that the sleep of a machine does not count. */
const HEARTBEAT_TIMEOUT_MS = 60_000;

/** Runs `work` while holding the lock; `onWait` is called once, with the holder's pid, if it has to wait. */
export async function withLock(file, work, onWait = () => {}) {
  await acquire(file, onWait);
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MS);
  const release = () => {
    clearInterval(heartbeat);
    if (holderOf(file) === process.pid) rmSync(file, { force: true });
  };
  // Also if the work exits the process, as a failed installation does.
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

async function acquire(file, onWait) {
  mkdirSync(dirname(file), { recursive: true });
  let seen = null;
  let seenAt = 0;
  for (let tries = 0; !create(file); tries++) {
    const holder = holderOf(file);
    const beat = `${holder} ${modifiedAt(file)}`;
    if (beat !== seen) [seen, seenAt] = [beat, performance.now()];
    if ((holder !== null && !isAlive(holder)) || performance.now() - seenAt > HEARTBEAT_TIMEOUT_MS) removeStale(file, beat);
    else if (tries === 0) onWait(holder);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Removes the lock of a dead holder. Two processes that notice at once must not remove each other's new lock. */
function removeStale(file, beat) {
  const claim = `${file}.claim`;
  if (!create(claim)) {
    // Held for microseconds, unless its holder was killed in that time.
    if (Date.now() - (modifiedAt(claim) ?? Date.now()) > HEARTBEAT_TIMEOUT_MS) rmSync(claim, { force: true });
    return;
  }
  if (`${holderOf(file)} ${modifiedAt(file)}` === beat) rmSync(file, { force: true });
  rmSync(claim, { force: true });
}

function create(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Null if there is no lock, or it was created but not written to yet. */
function holderOf(file) {
  try {
    return Number(readFileSync(file, "utf8")) || null;
  } catch {
    return null;
  }
}

function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

function touch(file) {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Another process removed the lock.
  }
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
