// A lock between processes of one clone: one of them prepares, the others wait. Node has no file locks, so it is a file
// that names its holder. A holder that is gone, or that has not shown a sign of life for a minute, has lost it. Plain
// JavaScript without dependencies, because it runs before there are any.

import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const POLL_MS = 100;
const HEARTBEAT_MS = 5_000;
/** Observed by the one who waits, so that a machine that slept does not count its sleep. */
const SILENT_MS = 60_000;

/** Runs `work` while nobody else holds the lock; `onWait` is told once, with the holder's pid, if somebody does. */
export async function withLock(file, work, onWait = () => {}) {
  await acquire(file, onWait);
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MS);
  const release = () => {
    clearInterval(heartbeat);
    if (holderOf(file) === process.pid) rmSync(file, { force: true });
  };
  // Also where the work ends the process, as a failed installation does.
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
    if ((holder !== null && !isAlive(holder)) || performance.now() - seenAt > SILENT_MS) seize(file, beat);
    else if (tries === 0) onWait(holder);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Takes away a lock whose holder is gone. Two who see that at once must not take away each other's new one. */
function seize(file, beat) {
  const claim = `${file}.claim`;
  if (!create(claim)) {
    // Held for a few microseconds, unless whoever held it was killed in them.
    if (Date.now() - (modifiedAt(claim) ?? Date.now()) > SILENT_MS) rmSync(claim, { force: true });
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

/** Null where there is none, or it has been created but not written to. */
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
    // Somebody took it away; whoever did says so.
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
