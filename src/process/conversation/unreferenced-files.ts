// Files that shall be deleted unless something refers to them. What may do so is read once, and its time hardly depends on how many files
// there are: they lie in few folders, and their paths have few lengths.

export class UnreferencedFiles {
  /** By the path as it is in JSON, without the slash at its beginning, which keys of media do not have. */
  readonly #paths = new Map<string, string>();
  readonly #folders = new Set<string>();
  readonly #lengths = new Set<number>();

  constructor(paths: Iterable<string>) {
    for (const path of paths) {
      const name = JSON.stringify(path.slice(1)).slice(1, -1);
      this.#paths.set(name, path);
      this.#folders.add(name.slice(0, name.lastIndexOf("/") + 1));
      this.#lengths.add(name.length);
    }
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  /** Of a message: wherever it has the path, even as a part of a longer one. */
  removeReferenced(json: string): void {
    for (const folder of this.#folders)
      for (let at = json.indexOf(folder); at !== -1; at = json.indexOf(folder, at + 1))
        for (const length of this.#lengths) this.#paths.delete(json.slice(at, at + length));
  }

  list(): string[] {
    return [...this.#paths.values()];
  }
}
