// One skill: its text, and, for those who may, editing and deleting it. A skill that came with the gateway can be copied, and the copy
// edited: agents then use the copy.

import { useEffect, useMemo, useState } from "preact/hooks";
import { makeCodeVisible } from "../../../src/approval/visible-code.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { describeError } from "../state/call.ts";
import { Latest } from "../state/latest.ts";
import { connectionCount } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { createSkill, deleteSkill, readSkill, type SkillEntry, type SkillFile, writeText } from "./skill-files.ts";
import { SourceBadge } from "./skill-list.tsx";

export function Skill({ id, pane }: { id: string; pane: PaneName }) {
  const skills = useLatest("ai.skills", {});
  const openList = () => go(joinPath("integrations", "skills"), { pane });
  return (
    <>
      <Link class="back" to={joinPath("integrations", "skills")}>
        <Icon name="back" />
        All skills
      </Link>
      <Loaded latest={skills} label="Loading the skill">
        {({ skills: all }) => {
          const found = all.find((one) => one.id === id);
          if (found === undefined)
            return <EmptyState icon="edit" title="There is no such skill" text="It was deleted, or has another name now." />;
          const follow = async (isSame: (one: SkillEntry) => boolean) => {
            await skills.refetch();
            const now = skills.value.peek()?.skills.find(isSame);
            if (now !== undefined && now.id !== id) go(joinPath("integrations", "skill", now.id), { pane, replace: true });
          };
          const onRenamed = () => follow(({ path }) => path === found.path);
          const onCopied = () => follow(({ name, source }) => name === found.name && source.kind === "home");
          const isReplaceable = !all.some(({ name, source }) => name === found.name && source.kind === "home");
          return <SkillPage skill={found} {...{ isReplaceable, onCopied, onRenamed, onDeleted: openList }} key={found.path} />;
        }}
      </Loaded>
    </>
  );
}

type SkillPageProps = {
  skill: SkillEntry;
  /** The user has no skill of that name. */
  isReplaceable: boolean;
  /** The user has a copy of it now. */
  onCopied: () => Promise<void>;
  /** Its text, and so maybe its name, has changed. */
  onRenamed: () => Promise<void>;
  onDeleted: () => void;
};

function SkillPage({ skill, isReplaceable, onCopied, onRenamed, onDeleted }: SkillPageProps) {
  const file = useMemo(() => new Latest<SkillFile>(() => readSkill(skill), describeError), [skill.path]);
  useEffect(() => void file.refetch(), [file, connectionCount.value]);
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const { source, description } = skill;
  const isOwn = source.writable && source.kind !== "profile";
  return (
    <Loaded latest={file} label="Loading its text">
      {(shown) =>
        isEditing || drafts.has(shown.path) ? (
          <Editor
            file={shown}
            onCancel={() => {
              drafts.delete(shown.path);
              setEditing(false);
            }}
            onSaved={async () => {
              drafts.delete(shown.path);
              await Promise.all([file.refetch(), onRenamed()]);
              setEditing(false);
            }}
          />
        ) : (
          <>
            <Card
              title="When agents use it"
              text={makeVisible(description)}
              actions={
                <>
                  <SourceBadge kind={source.kind} />
                  {source.writable && (
                    <Button icon="edit" onClick={() => setEditing(true)}>
                      Edit
                    </Button>
                  )}
                </>
              }
            >
              <p class="soft small">
                <code>{makeVisible(shown.path)}</code>
              </p>
              <pre class="entry-text strange-text skill-text" tabIndex={0} role="group" aria-label="The text of the skill" dir="ltr">
                {makeCodeVisible(shown.text)}
              </pre>
            </Card>
            {source.kind === "profile" && <OwnCopy {...{ skill, file: shown, isReplaceable, onCopied }} />}
            {isOwn && (
              <Card
                title="Delete this skill"
                text="Your agents forget how it is done."
                actions={
                  <Button look="danger" onClick={() => setDeleting(true)}>
                    Delete…
                  </Button>
                }
              />
            )}
            {isDeleting && <DeleteDialog skill={skill} onClose={() => setDeleting(false)} onDeleted={onDeleted} />}
          </>
        )
      }
    </Loaded>
  );
}

type OwnCopyProps = Pick<SkillPageProps, "skill" | "isReplaceable" | "onCopied"> & { file: SkillFile };

function OwnCopy({ skill, file, isReplaceable, onCopied }: OwnCopyProps) {
  const operation = useOperation();
  const copy = () =>
    operation.run(async () => {
      await createSkill(skill.name, file.text);
      await onCopied();
    });
  if (!isReplaceable) return <Banner>You have a skill of this name yourself.</Banner>;
  return (
    <Card
      title="Change it for your agents"
      text="All users of this gateway share this skill. A copy is yours alone to change."
      actions={
        <Button busy={operation.isBusy} onClick={() => void copy()}>
          Make your own copy
        </Button>
      }
    >
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
    </Card>
  );
}

/** Texts that were not saved when their page was left, by path. They are gone with the page of the browser. */
const drafts = new Map<string, { base: string; draft: string }>();

/** The front matter, with a description in it. */
const DESCRIPTION = /^---\n(?:(?!---\n)[^\n]*\n)*?description:/;

function Editor({ file, onCancel, onSaved }: { file: SkillFile; onCancel: () => void; onSaved: () => Promise<void> }) {
  const kept = drafts.get(file.path);
  const [base, setBase] = useState(kept?.base ?? file.text);
  const [draft, setDraft] = useState(kept?.draft ?? file.text);
  useEffect(() => {
    if (draft === base) drafts.delete(file.path);
    else drafts.set(file.path, { base, draft });
  }, [file.path, base, draft]);
  const operation = useOperation();
  /** An agent may have written it meanwhile. */
  const [newer, setNewer] = useState<string | null>(null);
  const save = () =>
    operation.run(async () => {
      const { text } = await readSkill(file);
      if (text !== base && text !== draft) return setNewer(text);
      await writeText(file.path, draft);
      await onSaved();
    });
  const hasLostDescription = DESCRIPTION.test(base) && !DESCRIPTION.test(draft);
  const problem = draft.trim() === "" ? "An empty file is no skill: delete it instead." : null;
  return (
    <Card title="Edit the skill" text="Between the lines --- are its name and the description by which agents choose it.">
      <form
        class="stack skill-editor"
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === null) void save();
        }}
      >
        <TextArea label="Text" error={problem} value={draft} onValue={setDraft} takesFocus />
        {hasLostDescription && (
          <Banner tone="warn">
            Its description is gone. Without the lines --- and description: agents see only the first line of the text.
          </Banner>
        )}
        {newer !== null && (
          <Banner
            tone="warn"
            actions={
              <span class="row">
                <Button
                  onClick={() => {
                    setBase(newer);
                    setDraft(newer);
                    setNewer(null);
                  }}
                >
                  Take the new text
                </Button>
                <Button
                  onClick={() => {
                    setBase(newer);
                    setNewer(null);
                  }}
                >
                  Keep mine
                </Button>
              </span>
            }
          >
            It was changed elsewhere while you edited. Nothing is saved yet.
          </Banner>
        )}
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
        <div class="row">
          <Button type="submit" look="primary" busy={operation.isBusy} disabled={problem !== null || newer !== null}>
            Save
          </Button>
          <Button look="quiet" onClick={onCancel}>
            Cancel
          </Button>
        </div>
      </form>
    </Card>
  );
}

function DeleteDialog({ skill, onClose, onDeleted }: { skill: SkillEntry; onClose: () => void; onDeleted: () => void }) {
  const name = makeVisible(skill.name);
  const remove = async () => {
    await deleteSkill(skill);
    onDeleted();
  };
  return (
    <ConfirmDialog title={`Delete ${name}?`} confirmLabel="Delete it" cancelLabel="Keep it" onConfirm={remove} onClose={onClose}>
      <p>
        <code>{makeVisible(skill.path)}</code>
        {skill.path.endsWith(".md") ? " is deleted." : " is deleted with all its files."} If the gateway has a skill of that name, your
        agents use that one again.
      </p>
    </ConfirmDialog>
  );
}
