// All limits of the wire and of identity, in one table. `sys.info` reports it; the tests iterate over it. Each name ends with its
// unit.

export const LIMITS = {
  /** A text frame from a stranger. Set-up assistance sends a chat, so it cannot be smaller. */
  strangerFrameBytes: 64 * 1024,
  /** A text frame from an authenticated peer; images travel in frames. */
  frameInBytes: 32 * 1024 * 1024,
  /** A text frame to a peer: a 25 MiB image is 33.3 MiB in base64. */
  frameOutBytes: 36 * 1024 * 1024,
  frameDepth: 64,
  /** Brackets, separators and strings of one frame, counted before parsing. */
  frameTokens: 100_000,
  /** Browsers split a large message into fragments of about 100 KiB, so it cannot be lower. */
  fragmentsPerMessage: 4096,
  requestIdBytes: 128,
  idempotencyKeyBytes: 128,
  idempotencyKeyMs: 24 * 60 * 60 * 1000,
  idempotencyKeysPerUser: 250_000,
  inFlightPerSocket: 1024,
  /** Expensive calls per user: how many may start at once, how many per second after that, and how many of each kind may wait. */
  expensiveCallsAtOnce: 100,
  expensiveCallsPerSecond: 20,
  expensiveCallsWaiting: 200,
  handshakeMs: 10_000,
  /** The same while a set-up call is running, which may wait for a model. */
  setupCallMs: 60_000,
  strangersPerAddress: 16,
  strangers: 256,
  sockets: 5_000,
  /** A peer that is silent for this long counts as disconnected. */
  silenceMs: 20_000,
  /** Including closed ones. */
  conversationsPerProcess: 1_000,
  passwordChars: 8,
  passwordBytes: 256,
  passwordHashesAtOnce: 2,
  configKeyBytes: 256,
  configValueBytes: 1024 * 1024,
  /** What a user other than root may store below users/<uid>/: less than fits in one answer. */
  configKeysPerUser: 1_000,
  configBytesPerUser: 4 * 1024 * 1024,
  /** Including revoked and expired ones; the oldest of those are removed to make room. */
  tokensPerUser: 1_000,
  devicesPerUser: 1_000,
  /** Including workspaces. */
  repositoriesPerUser: 1_000,
  schedulesPerUser: 10_000,
  /** More runs of schedules wait. */
  scheduleRunsPerMinute: 60,
  /** What their targets are together. */
  scheduleBytesPerUser: 32 * 1024 * 1024,
  /** Of those that calls create, and of the gateway's own; older ones are removed to make room. */
  notificationsPerUser: 10_000,
  watchesPerUser: 1_000,
  /** What the states of their watches are together. */
  watchBytesPerUser: 8 * 1024 * 1024,
  /** Signals that were matched, of which processes have yet to be told. */
  watchDeliveriesPerUser: 1_000,
} as const;
