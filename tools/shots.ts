// Takes screenshots of every screen of the web desktop, light, dark and on a phone: npm run shots -- [--png] [FOLDER [PART]],
// into docs/images/screens if no folder is named. Parts: setup, screens, integrations.

import { parseArgs } from "node:util";
import { shootEmptyIntegrations, shootIntegrations, connectServers } from "./shots/integrations.ts";
import { type Look, LOOKS, shootInto } from "./shots/looks.ts";
import { fillScene, type Scene } from "./shots/scene.ts";
import { shootScreens } from "./shots/screens.ts";
import { startDesktop } from "../test/support/desktop.ts";
import { everyStep, withFresh } from "../test/support/onboarding.ts";
import { ALICE, enter } from "../test/support/people.ts";

const PARTS = ["setup", "screens", "integrations"];

const { values, positionals } = parseArgs({ options: { png: { type: "boolean" } }, allowPositionals: true });
const [folder = "docs/images/screens", part] = positionals;
if (part !== undefined && !PARTS.includes(part)) {
  console.error(`usage: npm run shots -- [--png] [FOLDER [${PARTS.join(" | ")}]]`);
  process.exit(2);
}
const shoot = shootInto(folder, values.png === true ? "png" : "webp");
const looks = Object.keys(LOOKS) as Look[];
const wants = (name: string) => part === undefined || part === name;
const peers: { close(): Promise<void> }[] = [];

if (wants("setup"))
  for (const look of looks)
    await withFresh(async (fresh) => {
      const page = await fresh.open("/", LOOKS[look]);
      await everyStep(page, (name) => shoot(page, `setup-${name.replaceAll(" ", "-")}-${look}`));
    });

const desktop = await startDesktop();
let scene: Scene | null = null;
try {
  const alice = await enter(desktop.host, ALICE);
  if (wants("screens")) {
    scene = await fillScene(desktop.host, alice);
    for (const look of looks) await shootScreens(desktop, look, shoot, scene);
  }
  if (wants("integrations")) {
    for (const look of looks) await shootEmptyIntegrations(desktop, look, shoot);
    const servers = await connectServers(desktop, alice, (peer) => {
      peers.push(peer);
      return peer;
    });
    for (const look of looks) await shootIntegrations(desktop, look, shoot, servers);
  }
  alice.close();
} finally {
  await scene?.close();
  await desktop.close();
  for (const peer of peers) await peer.close();
}
