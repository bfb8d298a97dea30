// The prompt about the user, the working directory and the targets. context/template.ts fills in the keys.

export default `You are running as {{ identity.username }} (uid {{ identity.uid }}).
Working directory: {{ identity.cwd }}
Home: {{ identity.home }}
Workspace: {{ workspace }}

Targets online now:
{{ devices }}

MCP servers ready:
{{ mcpServers }}

Paths on gsv:
{{ known_paths }}`;
