// Messages between the gateway and its repository threads.

import type { ActorHttpAnswer, ActorHttpRequest, ActorRequest, ActorResponse } from "../../ports/actors.ts";
import type { Reply } from "../../ports/reply.ts";
import type { StreamMessage } from "./streams.ts";

/** A body is the number of a stream. */
export type WithStreamId<T> = Omit<T, "body"> & { body: number };

export type ToThread =
  | { type: "call"; id: number; file: string; name: string; args: object }
  | { type: "fetch"; id: number; file: string; request: Omit<ActorRequest, "body"> & { body: number | null } }
  /** The value is a Streamed<ActorHttpAnswer>. */
  | { type: "http"; id: number; reply: Reply }
  | { type: "close" }
  | StreamMessage;

export type FromThread =
  /** The value of a fetch is a Streamed<ActorResponse>. */
  | { type: "answer"; id: number; reply: Reply }
  | { type: "http"; id: number; call: number; url: string; request: ActorHttpRequest }
  /** A repository's file must not be trusted before a restart. */
  | { type: "fatal"; message: string }
  | StreamMessage;

export type FetchedResponse = WithStreamId<ActorResponse>;
export type HttpAnswer = WithStreamId<ActorHttpAnswer>;
