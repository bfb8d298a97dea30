// A text in which the words that were searched for are marked.

type MarkedProps = { text: string; words: string };

export function Marked({ text, words }: MarkedProps) {
  const wanted = words.trim().toLowerCase();
  const at = wanted === "" ? -1 : text.toLowerCase().indexOf(wanted);
  if (at === -1) return <>{text}</>;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + wanted.length)}</mark>
      {text.slice(at + wanted.length)}
    </>
  );
}
