// A promise with its resolve function. Devices and the CLI run on Node 20, which lacks Promise.withResolvers.

export type Deferred<T = void> = { promise: Promise<T>; resolve: (value: T) => void };

export function deferred<T = void>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}
