// A turn for everybody else. Awaiting what is there already gives nobody one.

export function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
