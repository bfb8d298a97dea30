// What agents must do: processes, their conversations, models and approvals. Data, like requirements.ts, of which it is a part.

import { type Requirement, r } from "./requirement.ts";

export const AGENTS: readonly Requirement[] = [
  r(
    "proc.send:answers",
    "What is said starts a run, is answered and told with all signals of a run, and is in the history",
    "seed, 16.1, 16.2",
  ),
  r("proc.send:init", "Without a pid the caller's init is meant, which is there since they connected", "seed, routing"),
  r("proc.send:stream", "The model's answer comes piece by piece, numbered from 1 in each model call", "16.1"),
  r("proc.send:tools", "A model's calls are carried out as its user, and their results are what it sees next", "5.5, 5.10, 17"),
  r(
    "proc.send:tool-errors",
    "Unknown tools, failures and arguments that cannot be read are told to the model, and the run goes on",
    "5.5, trust F14",
  ),
  r("proc.send:wires", "Models are spoken to in OpenAI's chat completions and responses and in Anthropic's messages", "issue 5"),
  r(
    "proc.send:queues",
    "What is said while a run is active waits, in any conversation, and each ends with an event of its own",
    "seed, 5.9, 15.4.2",
  ),
  r(
    "proc.send:joins",
    "What waits in the same conversation is said between results and the next answer, and its run ends too",
    "5.9, 15.4.2",
  ),
  r("proc.send:run-id", "The same runId again is the same message", "issue 5"),
  r("proc.send:refuses", "Empty words, unknown processes and media that is none are refused", "seed, 18"),
  r(
    "proc.send:model-fails",
    "A model that fails ends the run visibly and without its key; a passing failure is tried again and told",
    "5.5, trust F13",
  ),
  r("proc.send:output-capped", "Of a long output the history holds a part that says where all of it is", "issue 5, trust F18"),
  r("proc.send:routes", "A run is told to the connection it was started from, and one without to all of its owner's", "routing, 1.7"),
  r("proc.send:route-gone", "Where the connection is gone, the run is told to the others of its owner", "routing, 1.7"),
  r("proc.send:restart", "What was said and its numbers are there after a restart, and the model still sees it", "trust F5"),
  r("proc.subscribe:cursor", "Events are numbered without gaps; after a number come exactly those behind it", "issue 5, trust F7"),
  r("proc.subscribe:many", "Any number of connections follow one process and hear the same", "issue 5"),
  r("proc.subscribe:live", "Who comes in the middle of an answer is given what there is of it", "issue 5"),
  r("proc.unsubscribe:stops", "Who stops following hears no more", "issue 5"),
  r("proc.abort:model", "An abort is answered at once while the model hangs, ends its call, and the next in the queue begins", "seed, 5.9"),
  r(
    "proc.abort:tool",
    "An abort is answered at once while a tool runs; every call has its result, and late ones change nothing",
    "seed, 5.9",
  ),
  r("proc.abort:queued", "A run that waits can be ended by its name", "issue 5"),
  r("proc.queue.list:waiting", "What waits is listed in order, by conversation", "issue 5"),
  r("proc.queue.edit:words", "What waits can be put right until it is said", "issue 5"),
  r("proc.queue.withdraw:ends", "What waits can be taken back, and its run ends as aborted", "issue 5"),
];
