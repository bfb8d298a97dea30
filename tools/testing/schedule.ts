// Runs steps in parallel as far as the machine allows. A step says how many cores it keeps busy, so that steps that mostly wait
// run beside those that compute. Steps start in the given order; one that does not fit yet is overtaken by those after it.

export type Task = { load: number; run(): Promise<void> };

export async function runAll(tasks: readonly Task[], capacity: number): Promise<void> {
  const waiting = [...tasks];
  const running = new Set<Promise<void>>();
  let load = 0;
  const begin = (task: Task) => {
    load += task.load;
    const done: Promise<void> = task.run().finally(() => {
      load -= task.load;
      running.delete(done);
    });
    running.add(done);
  };
  while (waiting.length > 0 || running.size > 0) {
    // A task larger than the machine runs alone.
    const next = waiting.findIndex((task) => running.size === 0 || load + task.load <= capacity);
    if (next !== -1) begin(waiting.splice(next, 1)[0]!);
    else await Promise.race(running);
  }
}
