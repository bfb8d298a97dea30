export class Builds {
  constructor(folder: string, link: string);
  isCurrent(signature: string): boolean;
  add(signature: string, build: (folder: string) => Promise<void>): Promise<void>;
}
