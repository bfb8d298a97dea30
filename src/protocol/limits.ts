// Every limit of the wire and of identity, by name, in one table. `sys.info` reports it; the tests walk it.
// Units are last in each name.

export const LIMITS = {
  /** A text frame from a socket that has not said who it is. Set-up assistance carries a chat, hence not less. */
  strangerFrameBytes: 64 * 1024,
  /** A text frame from an identified peer; images travel in frames. */
  frameInBytes: 32 * 1024 * 1024,
  /** A text frame to a peer: a 25 MiB image is 33.3 MiB in base64. */
  frameOutBytes: 36 * 1024 * 1024,
  frameDepth: 64,
  /** Brackets, separators and strings of one frame, counted before it is parsed. */
  frameTokens: 100_000,
  /** Browsers split a large message into pieces of some 100 KiB, hence not fewer. */
  fragmentsPerMessage: 4096,
  requestIdBytes: 128,
  idempotencyKeyBytes: 128,
  idempotencyKeyMs: 24 * 60 * 60 * 1000,
  idempotencyKeysPerUser: 250_000,
  inFlightPerSocket: 1024,
  /** Expensive calls of a user: so many may begin at once, and then so many in a second; of each kind, so many wait. */
  expensiveCallsAtOnce: 100,
  expensiveCallsPerSecond: 20,
  expensiveCallsWaiting: 200,
  handshakeMs: 10_000,
  /** The same while a call of set-up is under way, which may wait for a model. */
  setupCallMs: 60_000,
  strangersPerAddress: 16,
  strangers: 256,
  sockets: 5_000,
  /** A peer not heard of for this long is taken for gone. */
  silenceMs: 20_000,
  /** Those that are closed included. */
  conversationsPerProcess: 1_000,
  passwordChars: 8,
  passwordBytes: 256,
  passwordHashesAtOnce: 2,
  configKeyBytes: 256,
  configValueBytes: 1024 * 1024,
  /** What a user other than root may keep below users/<uid>/: less than one answer holds. */
  configKeysPerUser: 1_000,
  configBytesPerUser: 4 * 1024 * 1024,
  /** Those that have ended included; the oldest of these make room. */
  tokensPerUser: 1_000,
  devicesPerUser: 1_000,
  /** Workspaces included. */
  repositoriesPerUser: 1_000,
} as const;
