// A file of the gateway, to read. Closing it leads back to the results.

import { useEffect, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, describeError } from "../state/call.ts";
import { Banner } from "../ui/banner.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

const LINES_MAX = 400;

export function FilePreview({ path, onClose }: { path: string; onClose: () => void }) {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isMounted = true;
    readText(path).then(
      (read) => isMounted && setText(read),
      (error: unknown) => isMounted && setProblem(describeError(error)),
    );
    return () => {
      isMounted = false;
    };
  }, [path]);
  return (
    <Dialog title={makeVisible(path.slice(path.lastIndexOf("/") + 1))} onClose={onClose}>
      <div class="stack">
        <Code text={path} label="the path of the file" />
        {problem !== null ? (
          <Banner tone="bad">{problem}</Banner>
        ) : text === null ? (
          <Skeleton label="Loading the file" />
        ) : (
          <pre class="entry-text" tabIndex={0} role="group" aria-label="Content of the file">
            {makeVisible(text)}
          </pre>
        )}
      </div>
    </Dialog>
  );
}

async function readText(path: string): Promise<string> {
  const result = await call("fs.read", { path, plain: true, limit: LINES_MAX });
  if (!result.ok) return result.error;
  if ("files" in result) return [...result.directories.map((name) => `${name}/`), ...result.files].join("\n");
  const text =
    typeof result.content === "string" ? result.content : result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return result.more === true ? `${text}\n…` : text;
}
