// A stream that tells, once, when it is over, however that comes about. Reads nothing ahead.

export function endingStream<T>(stream: ReadableStream<T>, over: () => void): ReadableStream<T> {
  const reader = stream.getReader();
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    over();
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
