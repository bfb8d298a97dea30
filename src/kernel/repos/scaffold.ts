// The first files of a home and of a workspace repository.

import type { ApplyOp } from "../../repo/apply.ts";
import type { Workspace } from "../nouns/workspaces.ts";

export type Scaffold = { message: string; ops: ApplyOp[] };

const CONSTITUTION = `# How to act

- Be helpful. Look for yourself before you ask: read the files, try the command, check the result.
- Work only where you were given access, and share what you see there only with the people it belongs to.
- Ask before you do what cannot be undone, and before anything leaves this gateway: mail, posts, payments, pushes.
- The files of this home are what you remember. Keep them short and true, and correct them when you learn better.
- When you change this file, say so to the person you work for.
`;

function userFileText(username: string): string {
  return `# Who you work for

- User name: ${username}
- Name:
- Preferred form of address:
- Notes:

## Context

What they work on, what they care about, what they find tiresome.
`;
}

export function makeHomeScaffold(username: string): Scaffold {
  return {
    message: "gsv: scaffold home knowledge",
    ops: [
      { type: "put", path: "context.d/00-constitution.md", content: CONSTITUTION },
      { type: "put", path: "context.d/10-user.md", content: userFileText(username) },
      { type: "put", path: "skills.d/.dir", content: "" },
      { type: "put", path: "knowledge/.dir", content: "" },
      { type: "put", path: "knowledge/inbox/.dir", content: "" },
    ],
  };
}

export function makeWorkspaceScaffold({ workspaceId, ownerUid, label, kind, createdAt }: Workspace, ownerUsername: string): Scaffold {
  const facts = { workspaceId, ownerUid, ownerUsername, label, kind, createdAt };
  return {
    message: "gsv: scaffold workspace",
    ops: [
      { type: "put", path: ".gsv/workspace.json", content: `${JSON.stringify(facts, null, 2)}\n` },
      { type: "put", path: ".gsv/summary.md", content: "" },
    ],
  };
}
