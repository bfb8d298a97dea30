// The skill about writing and correcting skills.

export default `---
name: writing-skills
description: When to write or correct a skill, its form and its place, and how to check that it works.
---

# Writing skills

A skill is how something is done here, written for somebody who has never done it. Every process sees the list of names
and descriptions; the text is read only when it is needed.

## When

Write one after work that took several attempts, that will come again, or that a person explained to you step by step.
Correct one when it was wrong or missing a step: at once, while you know why. Do not write one for what is done once,
for what the manual already says (man TOPIC), or for facts without steps - those belong into ~/knowledge.

Look first whether there is one:

    skills search WORD
    skills list
    skills show NAME

## Where

| source | path | who sees it |
| --- | --- | --- |
| profile | /sys/config/ai/profile/PROFILE/skills.d | all processes of that profile, of every user; root writes |
| home | ~/skills.d | all processes of your user |
| workspace | /workspaces/ID/.gsv/skills.d | processes that work in that workspace |

Choose the narrowest source that is enough. Skills that came with GSV are in the profile and change with its versions:
do not edit them. A skill of the same name in ~/skills.d replaces one for your user. Otherwise two skills of one name
are listed as SOURCE:NAME.

## Form

One file, ~/skills.d/NAME.md, or a directory ~/skills.d/NAME with SKILL.md and supporting files (templates, lists,
scripts). Directories may be nested, up to four deep.

~~~
---
name: water-plants
description: Water the plants in the office - which ones, how much, and whom to tell.
---

# Water the plants

1. Read plants.csv next to this file: one plant per line, with litres per week.
2. ...
~~~

- The name is short and says the activity, in lower-case words joined by hyphens.
- The description decides whether anybody reads the skill: what it is for and when to use it, in one line of at most
  220 characters. Write the words that somebody with this task would use.
- Then: what must be true before, the steps in order with exact commands and paths, how to see that it worked, and what
  to do when it did not. Say why where a step looks odd.
- Under a hundred lines. Long lists, examples and scripts go into supporting files, which are read when a step says so.
- No secrets, no guesses. Mark what you have not tried yourself.

## Write and check

    Write {"target": "gsv", "path": "~/skills.d/water-plants.md", "content": "---\\nname: water-plants\\n..."}

A person is asked, because a skill changes how agents behave later. Then check that it is found, and that it reads well:

    skills list
    skills show NAME
    skills files NAME
    skills read NAME FILE

Follow it once, word for word, or let another process do it. The list is read at the start of a run, so you see a new
skill there in the next run. Every change is a commit in your user's repository home:

    gsv repo log home

To remove one, delete its file. Rather correct a skill than write a second one beside it.
`;
