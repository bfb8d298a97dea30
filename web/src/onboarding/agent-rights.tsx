// What agents may do by the default policy, in two sentences. docs/guides/approvals.md has all of it.

export function AgentRights() {
  return (
    <ul class="greeting-facts">
      <li>
        <b>Without asking:</b> read files, also on your machines, write in your home folder and workspaces on this gateway, and run commands
        there.
      </li>
      <li>
        <b>Only if you allow it:</b> run a command or change something on your machines, delete, use the network, or read files that usually
        hold secrets.
      </li>
    </ul>
  );
}
