// What the service worker asks of pages. A page that agrees answers through the port that comes with it.

export type WorkerMessage = { ask: "tell" } | { ask: "open"; path: string };
