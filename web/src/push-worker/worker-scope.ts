// What the service worker uses of its global scope. The types of workers and those of pages exclude each other in one program.

type Waits = { waitUntil(work: Promise<unknown>): void };
export type Page = { focused: boolean; focus(): Promise<unknown>; postMessage(message: unknown, transfer: MessagePort[]): void };

export type PushEvent = Waits & { data: { text(): string } | null };
export type NotificationEvent = Waits & { action: string; notification: { title: string; data: unknown; close(): void } };

type Events = { install: Waits; activate: Waits; push: PushEvent; notificationclick: NotificationEvent };

export type WorkerScope = {
  addEventListener<N extends keyof Events>(name: N, listener: (event: Events[N]) => void): void;
  skipWaiting(): Promise<void>;
  navigator: { userAgent: string };
  registration: { showNotification(title: string, options: Record<string, unknown>): Promise<void> };
  clients: {
    claim(): Promise<void>;
    matchAll: (options: { type: "window"; includeUncontrolled: true }) => Promise<readonly Page[]>;
    openWindow(path: string): Promise<unknown>;
  };
};
