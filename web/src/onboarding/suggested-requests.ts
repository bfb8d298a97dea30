// Three suggestions for a first request, which work with what is connected. The demo understands only fixed phrases
// (src/models/demo-phrases.ts).

const COUNT = 3;

export function suggestRequests(isDemo: boolean, deviceId: string | null): string[] {
  const onDevice = deviceId === null ? [] : [isDemo ? `run uname -a on ${deviceId}` : `What is on ${deviceId}? Look around and tell me.`];
  const general = isDemo
    ? ["What can you do?", "write a note: water the plants", "remember that my bike is blue"]
    : [
        "What can you do for me here?",
        "Write a note that I started with GSV today",
        "Ask me three questions so that you can help me better",
      ];
  return [...onDevice, ...general].slice(0, COUNT);
}
