// A stream that calls back once when it ends, fails or is cancelled. Reads nothing ahead.

export function makeEndNotifyingStream<T>(stream: ReadableStream<T>, onEnd: () => void): ReadableStream<T> {
  const reader = stream.getReader();
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd();
  };
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
