// What can be done with the messages of a conversation that is not archived.

import type { HistoryMessage } from "../state/history-window.ts";

export type MessageActions = {
  fork: (messageId: number) => void;
  /** Asks again for the answer that this message is part of, or that this message of the user never got. */
  retry: (answer: HistoryMessage) => void;
  /** Asks again, and lets the user choose the model first. */
  retryWith: (answer: HistoryMessage) => void;
  /** Sends a message of the user in the place of this one. Throws if nothing was changed. */
  edit: (message: HistoryMessage, text: string) => Promise<void>;
};
