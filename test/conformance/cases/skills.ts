// Skills: which there are for whom, those that come with the gateway, and the command skills.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { says, wants } from "../../support/models/scripted.ts";
import { hasPlaceholder, shippedSkills } from "../../support/shipped-skills.ts";
import { stages } from "../stage.ts";
import { expectRefusal, refusal } from "../verifies.ts";

const SHIPPED = ["operating-gsv", "remembering-things", "reviewing-code", "working-on-devices", "writing-skills"];
const PROFILE = "/sys/config/ai/profile/task/skills.d";
const homeOf = (client: Client) => client.session.identity.process.home;
const write = (client: Client, path: string, content: string) => client.call("fs.write", { path, content });
const idsOf = async (client: Client, pid?: string) =>
  (await client.call("ai.skills", pid === undefined ? {} : { pid })).skills.map(({ id }) => id);

stages("ai.skills:layers", async ({ spawn, somebody, set }) => {
  const person = await somebody();
  const home = homeOf(person);
  const agent = await spawn({ workspace: { mode: "new" } }, person);
  const { workspaces } = await person.call("sys.workspace.list", {});
  const folder = `/workspaces/${workspaces[0]!.workspaceId}/.gsv/skills.d`;
  await set("config/ai/profile/task/skills.d/deploy.md", "# Deploy\n\nRoot's way.");
  await write(person, `${home}/skills.d/bake.md`, "---\nname: Bake Bread\ndescription: >\n  How to\n  bake.\n---\n");
  await write(person, `${home}/skills.d/kitchen/build/SKILL.md`, "Build it at home.");
  await write(person, `${folder}/build.md`, "Build it here.");
  const { skills } = await person.call("ai.skills", { pid: agent.pid });
  expect(skills.filter(({ name }) => !SHIPPED.includes(name))).toEqual([
    {
      id: "deploy",
      name: "deploy",
      description: "Root's way.",
      path: `${PROFILE}/deploy.md`,
      source: { kind: "profile", label: PROFILE, writable: false },
    },
    {
      id: "bake-bread",
      name: "bake-bread",
      description: "How to bake.",
      path: `${home}/skills.d/bake.md`,
      source: { kind: "home", label: "~/skills.d", writable: true },
    },
    {
      id: "home:build",
      name: "build",
      description: "Build it at home.",
      path: `${home}/skills.d/kitchen/build`,
      source: { kind: "home", label: "~/skills.d", writable: true },
    },
    {
      id: "workspace:build",
      name: "build",
      description: "Build it here.",
      path: `${folder}/build.md`,
      source: { kind: "workspace", label: folder, writable: true },
    },
  ]);
  // A person means their home process, without a workspace.
  expect(await idsOf(person)).toEqual([...SHIPPED, "bake-bread", "build"]);
});

stages("ai.skills:foreign", async ({ spawn, ann, root, world }) => {
  const { pid } = await spawn();
  const bob = await world.bob();
  const refused = await Promise.all([pid, "nobody"].map((other) => refusal(bob.call("ai.skills", { pid: other }))));
  expect(refused[0]).toMatchObject({ code: 404, message: `Process not found: ${pid}` });
  expect(refused[1]).toEqual({ ...refused[0], message: "Process not found: nobody" });
  expect(await idsOf(root, pid)).toEqual(await idsOf(ann, pid));
});

stages("ai.skills:shipped", async ({ spawn, model, somebody, root, set }) => {
  const person = await somebody();
  const agent = await spawn({}, person);
  expect(await idsOf(person, agent.pid)).toEqual(SHIPPED);
  expect(await person.call("fs.read", { path: PROFILE })).toMatchObject({
    ok: true,
    files: expect.arrayContaining(SHIPPED.map((id) => `${id}.md`)),
  });
  expect(await person.call("fs.read", { path: `${PROFILE}/writing-skills.md` })).toMatchObject({
    ok: true,
    content: expect.stringContaining("# Writing skills"),
  });
  expect(await write(person, `${PROFILE}/writing-skills.md`, "Mine.")).toMatchObject({ ok: false });
  expect((await person.call("proc.context", { pid: agent.pid, withText: true })).text).toContain(`In ${PROFILE}:\n- operating-gsv: `);
  // A user's own skill replaces the one that came with the gateway.
  await write(person, `${homeOf(person)}/skills.d/writing-skills.md`, "My way.");
  expect((await person.call("ai.skills", { pid: agent.pid })).skills.filter(({ name }) => name === "writing-skills")).toMatchObject([
    { id: "writing-skills", description: "My way.", source: { kind: "home" } },
  ]);
  // Root hides one, and shows it again.
  const key = "config/ai/profile/task/skills.d/operating-gsv.md";
  const { entries } = await root.call("sys.config.get", { key });
  await set(key, "");
  expect(await idsOf(person, agent.pid)).not.toContain("operating-gsv");
  await root.call("sys.config.set", { key, value: entries[0]!.value });
  expect(await idsOf(person, agent.pid)).toContain("operating-gsv");
  // An agent that does what they say needs no approval for it, and nothing fails.
  const lines = shippedSkills.flatMap(({ shell }) => shell).filter((line) => !hasPlaceholder(line));
  expect(lines.length).toBeGreaterThan(15);
  const input = lines.map((line) => `${line} > /dev/null || echo "failed: ${line}"`).join("\n");
  model.on("Try them.", wants(["Shell", { target: "gsv", input: `${input}\necho all were run` }]), says("Tried."));
  expect(await agent.ask("Try them.")).toMatchObject({ status: "ok", text: "Tried." });
  expect(await agent.result()).toMatchObject({ isError: false, output: expect.stringMatching(/^all were run\n/) });
});

stages("shell.exec:skills", async ({ spawn, model, somebody }) => {
  const person = await somebody();
  const home = homeOf(person);
  const run = async (input: string) => {
    const { output, ...rest } = await person.call("shell.exec", { input });
    return { output, exitCode: "exitCode" in rest ? rest.exitCode : null };
  };
  const bake = "---\nname: bake-bread\ndescription: How to bake.\n---\nKnead it with müesli.\n";
  await write(person, `${home}/skills.d/bake-bread/SKILL.md`, bake);
  await write(person, `${home}/skills.d/bake-bread/shapes/round.txt`, "round\n");
  await write(person, `${home}/skills.d/bake-bread/list.txt`, "flour\n");
  await write(person, `${home}/skills.d/oven.md`, "Heat it before you knead.\n");
  await write(person, `${home}/skills.d/knead.md`, "With both hands.\n");
  const { output: list } = await run("skills");
  expect(list).toMatch(/^NAME +SOURCE +WRITABLE +DESCRIPTION\noperating-gsv +\/sys\/config\/ai\/profile\/init\/skills\.d +no +Inspect/);
  expect(list).toMatch(/^bake-bread +~\/skills\.d +yes +How to bake\.$/m);
  expect((await run("skills list")).output).toBe(list);
  expect((await run("skills ls")).output).toBe(list);
  const { skills } = await person.call("ai.skills", {});
  expect(JSON.parse((await run("skills --json")).output)).toEqual(skills);
  const namesIn = (output: string) =>
    output
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split(" ")[0]);
  // A word in the name counts most, then one in the description, then one in the text.
  expect(namesIn((await run("skills search KNEAD")).output)).toEqual(["knead", "oven", "bake-bread"]);
  expect(namesIn((await run("skills search bread müesli")).output)).toEqual(["bake-bread"]);
  expect(await run("skills search no-such-word")).toEqual({
    output: "skills: no skill contains all of these words: try fewer, or skills list\n",
    exitCode: 1,
  });
  expect(await run("skills show bake-bread")).toEqual({ output: bake, exitCode: 0 });
  expect(await run("skills show oven")).toEqual({ output: "Heat it before you knead.\n", exitCode: 0 });
  expect((await run("skills show writing-skills")).output).toContain("# Writing skills");
  expect(await run("skills files bake-bread; skills files oven")).toEqual({ output: "list.txt\nshapes/round.txt\n", exitCode: 0 });
  expect(await run("skills read bake-bread shapes/round.txt")).toEqual({ output: "round\n", exitCode: 0 });
  const refusals: [input: string, output: string, exitCode: number][] = [
    ["skills read bake-bread /etc/passwd", "/etc/passwd is an absolute path: name a file as skills files bake-bread lists it", 1],
    ["skills read bake-bread ../oven.md", "../oven.md leads out of the skill: use cat for other files", 1],
    ["skills read bake-bread shapes", "bake-bread has no file shapes: skills files bake-bread lists its files", 1],
    ["skills read oven list.txt", "oven has no other files: use skills show oven", 1],
    ["skills show bake-bred", "no skill named bake-bred: did you mean bake-bread? skills list shows all", 1],
    ["skills show quantum", "no skill named quantum: skills list shows all", 1],
    ["skills show", "give one skill; skills list shows them", 2],
    ["skills dance", "unknown subcommand dance: use one of list, search, show, files, read, help", 2],
  ];
  const usage = "usage: skills [list [--json] | search WORD... | show SKILL | files SKILL | read SKILL FILE | help]\n";
  for (const [input, output, exitCode] of refusals)
    expect(await run(input)).toEqual({ output: `skills: ${output}\n${exitCode === 2 ? usage : ""}`, exitCode });
  expect((await run("skills help")).output).toContain("skills show SKILL");
  // In an agent's command they are the agent's, here with those of its workspace.
  const agent = await spawn({ workspace: { mode: "new" } }, person);
  const { workspaceId } = (await person.call("sys.workspace.list", {})).workspaces[0]!;
  await write(person, `/workspaces/${workspaceId}/.gsv/skills.d/oven.md`, "There is none here.\n");
  model.on("Look.", wants(["Shell", { target: "gsv", input: "skills show oven; skills show workspace:oven; skills list" }]), says("Seen."));
  await agent.ask("Look.");
  const { output } = await agent.result();
  expect(output).toContain("oven is ambiguous: use one of home:oven, workspace:oven");
  expect(output).toContain("There is none here.\n");
  expect(output).toMatch(/^operating-gsv +\/sys\/config\/ai\/profile\/task\/skills\.d +no /m);
  await expectRefusal(person.call("ai.skills", { pid: "nobody" }), 404);
});
