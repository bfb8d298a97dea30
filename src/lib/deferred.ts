// A promise and the way to end it. Devices and the CLI run on Node 20, where promises cannot be made so by themselves.

export type Deferred<T = void> = { promise: Promise<T>; resolve: (value: T) => void };

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
