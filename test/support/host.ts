// A started gateway, whatever it runs on, as tests see it: an address and a way to stop it.

export type HostName = "node" | "cloudflare";

export type Host = {
  name: HostName;
  /** http://127.0.0.1:port */
  url: string;
  /** What sys.setup must carry, or null where it needs nothing. */
  setupCode: string | null;
  /** Stops it cleanly and starts it again on the same data, possibly at another address. */
  restart(): Promise<void>;
  close(): Promise<void>;
};
