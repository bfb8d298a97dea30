// A started gateway of either host, as tests see it: an address and a way to stop it.

export type HostName = "node" | "cloudflare";

export type Host = {
  name: HostName;
  /** http://127.0.0.1:port */
  url: string;
  /** The code that sys.setup must carry, or null where it needs none. */
  setupCode: string | null;
  /** Stops it cleanly and starts it again on the same data, possibly at another address. */
  restart(): Promise<void>;
  close(): Promise<void>;
};
