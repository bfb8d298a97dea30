// Headers that are sent to a server with every request, as rows of a name and a value. Values are secrets.

import { Button, IconButton } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";

/** `id` tells rows apart. */
export type Header = { id: number; name: string; value: string };

/** As many as the gateway takes. */
const HEADERS_MAX = 20;

type HeaderFieldsProps = { headers: readonly Header[]; problem: string | null; onHeaders: (headers: readonly Header[]) => void };

export function HeaderFields({ headers, problem, onHeaders }: HeaderFieldsProps) {
  const change = (id: number, changed: Partial<Header>) => onHeaders(headers.map((one) => (one.id === id ? { ...one, ...changed } : one)));
  const nextId = Math.max(0, ...headers.map(({ id }) => id)) + 1;
  return (
    <fieldset class="field-group">
      <legend class="field-label">Headers</legend>
      <p class="field-words">
        For servers that want a key instead of a sign-in, such as Authorization with the value Bearer and your key. Values are stored
        encrypted.
      </p>
      {headers.map(({ id, name, value }, at) => (
        <div class="header-row" key={id}>
          <TextInput
            label={`Name of header ${at + 1}`}
            value={name}
            onValue={(name) => change(id, { name })}
            maxLength={128}
            autocomplete="off"
            autocapitalize="none"
          />
          <TextInput
            label={`Value of header ${at + 1}`}
            type="password"
            value={value}
            onValue={(value) => change(id, { value })}
            maxLength={8_192}
            autocomplete="new-password"
          />
          <IconButton icon="close" label={`Leave out header ${at + 1}`} onClick={() => onHeaders(headers.filter((one) => one.id !== id))} />
        </div>
      ))}
      {problem !== null && <p class="field-words field-error">{problem}</p>}
      {headers.length < HEADERS_MAX && (
        <div>
          <Button icon="plus" onClick={() => onHeaders([...headers, { id: nextId, name: "", value: "" }])}>
            Add a header
          </Button>
        </div>
      )}
    </fieldset>
  );
}

export function findHeaderProblem({ name, value }: Header): string | null {
  if (name.trim() === "") return "A header has no name.";
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name.trim()))
    return `${name.trim()} is not the name of a header: use letters, digits and dashes.`;
  return value === "" ? `${name.trim()} has no value.` : null;
}
