// The skill about files and commands on the user's machines.

export default `---
name: working-on-devices
description: Files and commands on the user's machines - paths, long commands and sessions, what a person is asked, machines that are offline.
---

# Working on devices

A device is a machine of the user that is connected now. You act there with the rights of the account its daemon runs
as. It is not a sandbox: what you break is really broken.

## Choose the target

The tools list the devices that were online when your run began; a device that connected later is offered in the next
run. On gsv you can see more:

    ls /sys/devices
    cat /sys/devices/DEVICE/status
    cat /sys/devices/DEVICE/description /sys/devices/DEVICE/platform

OWNER@ID is a device that somebody else shares with your user. Every path and command belongs to one machine: name the
target in each call, and never assume that a file is also elsewhere.

## Files

    Read {"target": "laptop", "path": "project/README.md"}
    Search {"target": "laptop", "path": "project/src", "query": "TODO", "include": "*.ts"}
    Edit {"target": "laptop", "path": "project/a.txt", "oldString": "old", "newString": "new"}

- A relative path starts at the device's workspace, usually the home; ~ is the home there.
- Read and Search need no approval, except for files that hold secrets. They are quicker than cat and grep in Shell,
  for which a person is asked.
- Prefer Edit to sed: it fails if the text is not there, and shows the person exactly what changes.
- No tool copies between targets. Read and Write do for a small text; for anything else a person runs:

    gsv cp laptop:project/report.pdf gsv:report.pdf
    gsv cp -r gsv:~/knowledge laptop:notes

## Commands

    Shell {"target": "laptop", "cwd": "project", "input": "git status --short"}

- Each command is a new login shell of the user: directory and variables are not kept. Give cwd each time.
- There is no terminal: use options that ask nothing (--yes, --no-pager, CI=1), and no editors or pagers.
- If output may be long, send it to a file there and read the part you need. When there is too much, the middle is
  left out.

A command that takes longer than some seconds answers running, with a sessionId. It continues on the device:

    Shell {"sessionId": "ID", "input": ""}
    Shell {"sessionId": "ID", "input": "yes\\n"}
    Shell {"sessionId": "ID", "input": "\\u0003"}

The first waits for more output, the second types a line, the third ends the command. Looking at it again needs no
approval. Do not start a second one because the first is slow. Its result is kept for a day, so a long build can go on
while you do other work; a person sees it with gsv jobs.

## What a person is asked

Every command and every change on a device needs approval, unless the person has allowed it for longer. If nobody can
be asked, as in scheduled work, it is refused.

- One clear command for one purpose. A person approves what they can read in a moment, not ten lines of script.
- Name files instead of patterns and variables: what cannot be known before it runs is always asked again.
- Say before the call why it is needed. After a refusal do not try another way to the same end.

## Offline, and unknown outcomes

- If a device disappears, a call waits some seconds for it to come back, and then says that it is offline. Do not do the
  work on another machine instead: say what is left, and stop or do something else.
- "The outcome is unknown" means that it may have happened. Look (Read, git status, the process list) before you
  repeat anything.
- A command continues while its machine has no connection. Poll the same sessionId when it is back.

Say at the end what was changed on which machine, and what still runs there.
`;
