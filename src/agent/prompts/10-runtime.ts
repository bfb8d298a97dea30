// Where a process finds itself. The keys are filled in by context/template.ts.

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
