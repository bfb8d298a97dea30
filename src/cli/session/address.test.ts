import { expect, test } from "vitest";
import { parseGatewayAddress } from "./address.ts";

test.each([
  ["ws://localhost:8787/ws", "ws://localhost:8787/ws", "ws://localhost:8787", "http://localhost:8787/healthz"],
  ["http://LOCALHOST:8787", "ws://localhost:8787/ws", "ws://localhost:8787", "http://localhost:8787/healthz"],
  ["https://gsv.example.com", "wss://gsv.example.com/ws", "wss://gsv.example.com", "https://gsv.example.com/healthz"],
  ["wss://gsv.example.com:443/ws", "wss://gsv.example.com/ws", "wss://gsv.example.com", "https://gsv.example.com/healthz"],
  ["https://gsv.example.com:80/", "wss://gsv.example.com:80/ws", "wss://gsv.example.com:80", "https://gsv.example.com:80/healthz"],
  ["wss://example.com/gsv/ws", "wss://example.com/gsv/ws", "wss://example.com", "https://example.com/gsv/healthz"],
  ["ws://[::1]:8787", "ws://[::1]:8787/ws", "ws://[::1]:8787", "http://[::1]:8787/healthz"],
])("%s", (text, url, origin, healthUrl) => {
  expect(parseGatewayAddress(text)).toMatchObject({ url, origin, healthUrl });
});

test.each([
  "localhost:8787",
  "ftp://x",
  "ws:x",
  "ws:///x",
  "",
  "javascript:alert(1)",
  "ws://a b/",
  "ws://h/?",
  "ws://h/#",
  "ws://u@h",
  "ws://:p@h",
])("%j is refused with a message that repeats no secret", (text) => {
  expect(() => parseGatewayAddress(text)).toThrow(/^Invalid gateway address/);
  expect(() => parseGatewayAddress("ws://alice:hunter2@h/ws?token=abc")).toThrow(
    expect.not.objectContaining({ message: expect.stringMatching(/hunter2|abc/) }),
  );
});
