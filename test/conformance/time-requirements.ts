// Requirements of schedules, notifications and watches for signals.

import { r, type Requirement } from "./requirement.ts";

export const TIME: readonly Requirement[] = [
  r(
    "sched.add:record",
    "A schedule is stored as it was asked for, with its defaults, who made it, as whom it runs and when",
    "seed, 0.3, 11.1, 15.1",
  ),
  r("sched.add:validates", "Names, expressions and targets are checked, each with a message that names the field", "11.2, 18"),
  r(
    "sched.add:cron",
    "A cron expression has five fields and a named time zone, and one that would never run is refused",
    "seed, 11.2, trust V38",
  ),
  r(
    "sched.add:next",
    "The next run of each kind of expression is computed when the schedule is added; a disabled one has none",
    "seed, 11.2, 11.3",
  ),
  r(
    "sched.add:past",
    "An at in the past is refused, also for a schedule that is changed or enabled, and a disabled one may wait for it",
    "15.7",
  ),
  r(
    "sched.add:targets",
    "The process of a target, and the parent, must be one's own: a foreign one is like an absent one; root may name any",
    "11.2, trust V12",
  ),
  r(
    "sched.add:agent",
    "An agent adds a schedule only if a person approves, unattended never, and only for children of its own",
    "11.1, trust V11",
  ),
  r(
    "sched.add:spawns",
    "A schedule that is due starts a process with its prompt while nobody is connected; once it has run it is disabled, and its owner is notified",
    "seed, 11.4, 11.5, 11.6",
  ),
  r(
    "sched.add:event",
    "A schedule that is due sends a process a system message with its name, id, times, message and data, which starts a run",
    "seed, 11.4, 11.6, 16.1",
  ),
  r(
    "sched.add:overlap",
    "A time at which the last run is still at work is skipped and recorded, and the other runs at once",
    "seed, 11.5, trust F17",
  ),
  r(
    "sched.add:restart",
    "After a restart of the gateway a schedule that became due runs once without any client, and notifications and watches are there",
    "seed, 15.7, trust F17",
  ),
  r("sched.add:workspace", "A process that a schedule starts gets the parent, workspace and assignment of its target", "seed, 5.2"),
  r("sched.add:init", "A schedule for the profile init sends its prompt to the init, and its run ends with the answer", "11.6, 5.2"),
  r(
    "sched.list:order",
    "The next to run comes first, those that do not run come last by their last change; disabled ones are listed on request",
    "6.7, 11.2",
  ),
  r("sched.list:pages", "100 are listed by default, 1 to 500 on request, from an offset, and count is of all", "seed, 11.2"),
  r(
    "sched.list:whose",
    "Users list their own schedules, root those of all or of one user, and nobody else's are listed",
    "seed, trust V12",
  ),
  r(
    "sched.upcoming:next",
    "The coming runs of one's own schedules are listed in order, those of the next hours, and no more than asked for",
    "decision 0020",
  ),
  r(
    "sched.update:patch",
    "A patch changes what it names; the next run is computed again if the expression or enabled is in it",
    "seed, 11.3",
  ),
  r("sched.update:foreign", "A foreign schedule answers every call exactly like an absent one, and root may use any", "18, trust V12"),
  r(
    "sched.update:announces",
    "Every change of a schedule and its runs is announced to its owner and root, and to nobody else",
    "decision 0020",
  ),
  r(
    "sched.remove:removed",
    "A removed schedule is gone with its runs; removing it again is false, and work that has begun goes on",
    "seed",
  ),
  r(
    "sched.run:force",
    "A forced run needs an id, runs what is disabled or not due, and leaves the next run and enabled as they are",
    "seed, 11.5, 18",
  ),
  r(
    "sched.run:due",
    "What is disabled or not due is skipped with the reason and not counted, and a time runs once, whoever asks for it",
    "seed, 11.5",
  ),
  r(
    "sched.run:key",
    "A forced run that is repeated with its key runs once and answers the same, and the key is good for no other",
    "trust I3",
  ),
  r("sched.run:rights", "A schedule runs with the rights that its owner has at that time, whoever makes it run", "11.6, trust V11"),
  r(
    "sched.run:paused",
    "A schedule that fails five times in a row is paused, its owner is notified, and enabling forgets it",
    "decision 0020",
  ),
  r("sched.run:stopped", "A run that a person stops is an error, but no failure of the schedule", "decision 0020"),
  r("sched.runs:refused", "A run tells how many of its calls were refused, and its conversation which schedule has started it", "issue 18"),
  r("sched.runs:pages", "Runs are listed newest first in pages, with their time, end, process and answer", "15.7, decision 0020"),
  r("sched.preview:says", "An expression is shown in words with its next runs, and changes nothing", "decision 0020"),
  r(
    "sched.preview:schedule",
    "The next runs of a schedule begin with its own next run and count from its own anchor; a disabled one has none",
    "decision 0020",
  ),
  r(
    "sched.preview:words",
    "Words are understood as an expression, alone or in a sentence, in a zone or that of the gateway",
    "decision 0020",
  ),
  r(
    "sched.add:fails-once",
    "A schedule for one time is disabled after its run, also if that failed, and its owner is notified of the failure",
    "11.5",
  ),
  r("shell.exec:sched", "sched adds, lists, enables, disables, removes and runs schedules, with the options of the specification", "4.6"),
  r(
    "sched.preview:dst",
    "A fixed local time that is skipped runs at the first minute after the gap, one that is repeated runs once",
    "11.3, trust F16",
  ),

  r(
    "notification.create:defaults",
    "A notification has an id, level info and 30 days, and is from the user who made it; all their connections are told",
    "seed, 1.6, 6.5",
  ),
  r("notification.create:validates", "A title is required, what is too long is refused, and an empty text is none", "6.5, 18"),
  r("notification.create:ttl", "A time to live is moved into 1 second to 90 days", "seed, 6.5"),
  r(
    "notification.create:actions",
    "Actions without kind or label are dropped, and so are those that answer questions, which only the gateway offers",
    "6.5, trust V06",
  ),
  r(
    "notification.create:source",
    "A notification of a process names it, whatever the process says; it goes to the process's user",
    "seed, 6.5",
  ),
  r(
    "notification.create:kernel",
    "A question of an agent is a notification of the gateway until it is answered, which no agent can hide",
    "decision 0020, trust V06",
  ),
  r(
    "notification.create:receivers",
    "Signals of notifications reach people's connections of that user: no device, service or other user",
    "1.6",
  ),
  r(
    "notification.list:filters",
    "The newest come first; those that were read may be left out, those that were dismissed are included on request",
    "seed, 6.5, 6.7",
  ),
  r("notification.list:limit", "100 are listed by default, and 1 to 500 on request", "seed, 6.5"),
  r("notification.list:expired", "A notification that has expired exists for no call", "seed"),
  r(
    "notification.mark_read:week",
    "One that is read expires seven days after it was read last, and all connections are told",
    "seed, 1.6, 6.5",
  ),
  r("notification.mark_read:null", "For a missing and a foreign id notification is null, and nobody is told", "seed, trust V12"),
  r("notification.dismiss:three-days", "One that is dismissed expires in three days, and all connections are told, once", "seed, 1.6, 6.5"),
  r("notification.dismiss:null", "For a missing and a foreign id notification is null, and nobody is told", "seed, trust V12"),

  r("notification.push.key:stable", "The gateway has one public key, a point of P-256, for all browsers", "decision 0021"),
  r(
    "notification.push.subscribe:sends",
    "A notification is encrypted for the browser, signed by the gateway, and read there as it was written; the address is shown to nobody",
    "decision 0021",
  ),
  r("notification.push.subscribe:validates", "An endpoint is a public https address, and keys are of their form", "decision 0021"),
  r("notification.push.subscribe:who", "Only a browser with a token subscribes, and no agent does", "decision 0021, trust V11"),
  r("notification.push.subscribe:replaces", "A browser has one subscription, of the user who signed in to it last", "decision 0021"),
  r("notification.push.subscribe:signed-out", "A browser that is signed out gets nothing more", "decision 0021"),
  r(
    "notification.push.subscribe:failures",
    "A push service that is busy is asked again, a message it refuses is left out, and a browser that is gone is forgotten",
    "decision 0021",
  ),
  r("notification.push.subscribe:restart", "What waits to be sent survives a restart", "decision 0021"),
  r("notification.push.subscribe:read-before", "What was read meanwhile is not sent", "decision 0021"),
  r(
    "notification.push.subscribe:answers",
    "A question is answered from its notification, once, with the proof for this question, browser and decision",
    "decision 0021, trust V06",
  ),
  r(
    "notification.push.subscribe:allow",
    "Allow is offered only for what is shown whole, and where the user wants it",
    "decision 0021, trust V06",
  ),
  r("notification.push.list:own", "A user lists their own browsers, and which one it is that asks", "decision 0021"),
  r("notification.push.update:level", "A browser gets only notifications from its level on", "decision 0021"),
  r("notification.push.unsubscribe:ends", "A browser that was removed gets nothing more", "decision 0021"),
  r("notification.push.test:says", "A test says why a message was not accepted", "decision 0021"),
  r("notification.settings.get:levels", "Everything interrupts until a user has chosen otherwise", "decision 0021"),
  r("notification.settings.set:levels", "Users choose by origin and level what interrupts them; lists have all", "decision 0021"),

  r(
    "signal.watch:tells",
    "A process is told once of the signal it watches for, with state and payload, and starts to work on it",
    "seed, 1.6, 6.4, 16.1",
  ),
  r(
    "signal.watch:agent",
    "An agent watches only if a person approves, with an explicit processId, for itself, and not itself",
    "seed, 18, trust V11",
  ),
  r(
    "signal.watch:validates",
    "A signal that is empty or that no process emits, and a state that is too large, are refused",
    "seed, 6.4, 18",
  ),
  r(
    "signal.watch:bounds",
    "A watch is for one signal and for 24 hours by default; a time to live is moved into 1 second to 30 days",
    "seed, 6.4",
  ),
  r("signal.watch:key", "A watch with the key of another one of the same process replaces it", "seed, 6.4"),
  r("signal.watch:repeats", "A watch that is not for one signal tells of each, until it is removed", "seed, 6.4"),
  r(
    "signal.watch:person",
    "A person watches for one of their processes, by default their init, and for all others if none is named",
    "decision 0020",
  ),
  r("signal.watch:foreign", "A foreign process answers like an absent one, and no watch matches signals of other users", "6.4, trust V12"),
  r("signal.watch:failed", "A watch that cannot be delivered is marked failed with the reason, and its owner is notified", "seed, 6.4"),
  r("signal.watch:circle", "Processes that watch each other stop after eight rounds, and their owner is notified", "decision 0020"),
  r("signal.watch:expired", "A watch that has expired is not listed, tells nobody, and leaves its key free", "6.4"),
  r(
    "signal.unwatch:removes",
    "Watches are removed by id or by key; the number removed is returned; foreign ones are like absent ones",
    "seed, 18, trust V12",
  ),
  r("shell.exec:notify", "notify sends, lists, reads and dismisses notifications", "4.8"),
  r("signal.list:own", "A process sees its own watches, a person those of all their processes", "decision 0020"),
  r("signal.list:pages", "Watches are listed in pages of limit from offset, the oldest first, with the number of all", "decision 0020"),
];
