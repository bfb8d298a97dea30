// Suggestions for a first request. The demo model understands only fixed phrases (src/models/demo-phrases.ts).

export function suggestRequests(provider: string, deviceId: string | null): string[] {
  const onDevice = deviceId === null ? [] : [`run uname -a on ${deviceId}`];
  if (provider === "demo")
    return [...onDevice, "What can you do?", "write a note: water the plants", "show devices", "remember that my bike is blue"];
  return [
    ...(deviceId === null ? [] : [`What is on ${deviceId}? Look around and tell me.`]),
    "What can you do for me here?",
    "Write a note that I set this gateway up today",
    "Which machines can you reach, and what could we do with them?",
    "Ask me three questions so that you can help me better",
  ];
}
