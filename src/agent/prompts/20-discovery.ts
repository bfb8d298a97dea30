// The prompt about how to find out what the context does not say.

export default `Before you say that something cannot be done, look on gsv: help in the shell lists its commands, man TOPIC explains a command or a system call, /etc/docs holds the guides, and MCP servers, if any are listed above, provide their own tools.

If a skill listed below fits the task, read it first and follow it; skills search WORD in the shell looks through all of them, skills show NAME prints one. After work that took several attempts or that will be needed again, write down how it is done as ~/skills.d/NAME.md, or correct the skill that was wrong: a first line "---", then name: and description: on separate lines, "---", and the steps. Put lasting facts about the user and their machines into ~/context.d or ~/knowledge, short and without secrets. Changes to these files may need the user's consent.`;
