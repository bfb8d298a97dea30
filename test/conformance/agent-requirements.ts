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

  r(
    "proc.history:pages",
    "History comes in pages with ids and times, from the oldest or the newest, with the state of the context",
    "seed, 5.10, 5.12",
  ),
  r("proc.history:newest", "However long the history is, the model sees the newest of it", "15.4.1"),
  r(
    "proc.conversation.open:makes",
    "A conversation is made or opened again; it gets an id where none is given, and a trimmed title",
    "seed, 5.10",
  ),
  r("proc.conversation.open:apart", "What is said in one conversation is not known in another", "seed"),
  r("proc.conversation.list:open", "Open conversations are listed, closed ones where they are asked for", "seed"),
  r("proc.conversation.get:one", "One conversation is shown; an unknown one is null", "seed"),
  r("proc.conversation.close:silent", "A closed conversation keeps its history and takes no message until it is opened again", "seed"),
  r("proc.conversation.reset:archives", "One conversation is archived and emptied under the next generation; others stay", "seed, 5.10"),
  r("proc.conversation.reset:ends", "Runs of a conversation that is emptied end with an event, and others go on", "15.4.6"),
  r("proc.conversation.policy.get:default", "The policy is manual at 90 % with 80 messages kept", "seed"),
  r("proc.conversation.policy.set:sets", "A policy is changed in parts, and only to what makes sense", "seed, 5.12"),
  r(
    "proc.conversation.policy.set:fail",
    "With the policy fail a full context ends the run before the model is asked, and says what to do",
    "5.12",
  ),
  r(
    "proc.conversation.policy.set:auto-compact",
    "With the policy auto-compact a run makes room for itself, visibly and with an archive",
    "seed, 5.12",
  ),
  r("proc.conversation.compact:prefix", "The older part is archived and a visible summary takes its place", "seed, 5.10"),
  r(
    "proc.conversation.compact:generates",
    "The summary is made by the model where that is wanted; without one nothing changes",
    "seed, 5.10",
  ),
  r("proc.conversation.compact:refuses", "One selector, one summary, something to compact, and no run in that conversation", "seed, 5.10"),
  r("proc.conversation.segments:lists", "Archived parts are listed, also after the conversation was emptied", "seed, 5.9"),
  r(
    "proc.conversation.segment.read:pages",
    "An archived part is read in pages, word for word, with names and errors of results",
    "seed, 15.4.8",
  ),
  r("proc.conversation.fork:message", "A conversation is branched at a message, with new ids and the old times", "seed, 5.10"),
  r(
    "proc.conversation.fork:segment",
    "An archived part becomes a conversation, with what was behind it unless that is not wanted",
    "seed, 5.10",
  ),
];
