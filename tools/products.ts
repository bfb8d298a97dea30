// Writes the derived source files that are not kept in git: the reference behind `gsv help` and the manuals, the guides that
// the gateway shows in /etc/docs, the commands of its shell that it shows in /usr/bin, and the engine of scripts that counts its steps,
// for Cloudflare. The build runs it first (bundle.mjs), as
// a separate bundle, on whatever Node the machine has. The argument is the root of the clone.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kernelCalls } from "../src/kernel/calls/table.ts";
import { guidesModule, pages } from "./generate/pages.ts";
import { referenceModule, referenceOf } from "./generate/reference.ts";
import { meterWasm } from "./meter-wasm.ts";
import { shellCommandsModule } from "./generate/shell-commands.ts";

const root = process.argv[2]!;
const reference = kernelCalls.map(referenceOf);
const folder = join(root, "docs/guides");
const guides = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
const products: Record<string, string | Uint8Array> = {
  "reference.ts": referenceModule(reference),
  "guides.ts": guidesModule(guides, pages(reference)),
  "shell-commands.ts": shellCommandsModule(),
  "quickjs-metered.wasm": meterWasm(readFileSync(join(root, "node_modules/quickjs-wasi/quickjs.wasm"))),
};
mkdirSync(join(root, "src/generated"), { recursive: true });
for (const [name, content] of Object.entries(products)) {
  const path = join(root, "src/generated", name);
  if (!existsSync(path) || !readFileSync(path).equals(Buffer.from(content))) writeFileSync(path, content);
}
