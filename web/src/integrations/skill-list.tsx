// The skills of the user's agents: their own first, then those that came with the gateway.

import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import type { SkillEntry } from "./skill-files.ts";

const KINDS: Record<SkillEntry["source"]["kind"], string> = {
  home: "Yours",
  profile: "From the gateway",
  workspace: "From a workspace",
  package: "From a package",
};

export function SkillList({ pane }: { pane: PaneName }) {
  const skills = useLatest("ai.skills", {});
  const newButton = (
    <Button look="primary" icon="plus" onClick={() => go(joinPath("integrations", "new-skill"), { pane })}>
      Write a skill
    </Button>
  );
  return (
    <Loaded latest={skills} label="Loading the skills">
      {({ skills }) =>
        skills.length === 0 ? (
          <EmptyState
            icon="edit"
            title="No skills yet"
            text="A skill tells your agents how something is done. They know its description, and read it when it fits their work."
          >
            {newButton}
          </EmptyState>
        ) : (
          <>
            <div class="integrations-head">
              <p class="soft integrations-about">
                Skills tell your agents how something is done. Agents know the descriptions, and read a skill when it fits their work.
              </p>
              {newButton}
            </div>
            <ul class="entries">
              {skills
                .toSorted((one, other) => Number(isOwn(other)) - Number(isOwn(one)))
                .map((skill) => (
                  <SkillRow key={skill.id} skill={skill} />
                ))}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}

function SkillRow({ skill: { id, name, description, source } }: { skill: SkillEntry }) {
  return (
    <li>
      <Link class="entry entry-row" to={joinPath("integrations", "skill", id)}>
        <span class="entry-words">
          <span class="row">
            <strong>{makeVisible(name)}</strong>
            <SourceBadge kind={source.kind} />
          </span>
          <span class="soft">{makeVisible(description)}</span>
        </span>
        <Icon name="right" />
      </Link>
    </li>
  );
}

export function SourceBadge({ kind }: { kind: SkillEntry["source"]["kind"] }) {
  return <Badge tone={kind === "home" ? "accent" : "plain"}>{KINDS[kind]}</Badge>;
}

function isOwn({ source }: SkillEntry): boolean {
  return source.kind === "home";
}
