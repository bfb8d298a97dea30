// A stream that passes on each chunk only if a check does not throw. Reads nothing ahead.

export function checkedStream<T>(stream: ReadableStream<T>, check: () => void): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        try {
          check();
        } catch (error) {
          reader.cancel(error).catch(() => {});
          throw error;
        }
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
