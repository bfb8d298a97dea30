// The skill about inspecting and administering a gateway.

export default `---
name: operating-gsv
description: Inspect and administer this gateway - settings, people, rights, tokens, budgets, disk space - and find out why something does not work.
---

# Operating GSV

You see what your user may see, and no secrets. Most settings belong to root. Look first, change one thing, look
again, and say how to undo it.

## Look

In the shell on gsv:

    cat /proc/version /proc/uptime
    proc list
    cat /proc/PID/status /proc/PID/usage
    ls -R /sys/config
    cat /sys/config/ai/provider /sys/config/ai/model
    cat /sys/users/UID/ai/model
    ls /sys/devices
    cat /sys/devices/DEVICE/status /sys/devices/DEVICE/owner
    cat /etc/passwd /etc/group
    cat /sys/capabilities/100
    mcp list
    oauth list
    sched list --all
    notify list --unread
    df -h
    cat /proc/self/quota

- /sys/config holds every setting as one file per key. A setting that is not there has its default.
- /sys/users/UID/ai holds a user's own settings for models and budgets, which come before root's.
- /sys/capabilities/GID lists the calls that members of a group may make. 100 is the group users.
- sched list shows the schedules of your user, sched history ID why one failed; adding one needs a person's consent.
- mcp list shows the MCP servers of your user. A tool that has changed, or is new, waits until a person accepts it.
- /proc has the processes you may see. Only root sees those of others.
- /proc/self/quota is the number of bytes your user stores, then the limit.

The manual knows the rest:

    man
    man sys.config.set
    man operating

## Change a setting

Write the file with the tool Write, which also makes a key that has no file yet:

    Write {"target": "gsv", "path": "/sys/config/shell/timeout_ms", "content": "60000"}

This is the call sys.config.set: it needs the right to that key, and a person is asked. Note the old value before.
A key cannot be removed: to undo, write the old value again. The guides say which settings take an empty value.

## What a person does

There is no command gsv in your shell. Give the person the exact line for a terminal:

    gsv doctor --model
    gsv status
    gsv approvals
    gsv jobs
    gsv proc usage --days 7
    gsv device list --all
    gsv token list
    gsv token revoke ID
    gsv token create --label LABEL --expires 90d
    gsv config set users/UID/ai/budget/run/model_calls 50
    gsv -u root config set config/ai/api_key
    gsv -u root user add NAME
    gsv -u root user lock NAME
    gsv -u root group members GROUP NAME --add
    gsv -u root capability grant GROUP sys.token.list

Passwords, tokens and keys are typed there, when the command asks. Never let anybody write one into a conversation.

## When something is wrong

- An agent does not answer: look at its state in proc list. A question may be waiting (gsv approvals), a budget may be
  used up (/proc/PID/usage), or the model fails (gsv ai check).
- A call is refused with 403: compare its name with /sys/capabilities of the user's groups.
- A call is refused with 429: too many at once or too many logins; it says when to try again.
- A device is missing: read its status in /sys/devices. On that machine a person runs gsv device status and
  gsv device logs.
- Writes fail with "Quota exceeded": df -h, then delete, or root raises config/files/user_quota_bytes/UID.
- An error 500 has an incident id. The line with that id is in log/gateway.log in the gateway's data directory, which
  only the person who runs the gateway can read.
- Anything else: gsv doctor checks clock, disk, tokens, model, machines and processes, and says what to do.

End with what you saw, the cause, what you changed, and the line that undoes it.
`;
