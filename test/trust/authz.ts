// B01: who may call what, built from the registry. Every syscall is called by every kind of caller, with every id it takes set to
// one of the caller's own, one of another user and one that does not exist. A wrong allow fails, and so does an answer that
// distinguishes a foreign object from an absent one.

import { sleep } from "../../src/lib/sleep.ts";
import { callsByName, kernelCalls } from "../../src/kernel/calls/table.ts";
import type { Syscall } from "../../src/kernel/calls/define.ts";
import type { Client } from "../../src/client/client.ts";
import type { Host } from "../support/host.ts";
import { startMcpServer } from "../support/mcp/server.ts";
import { ScriptedModel, wants } from "../support/models/scripted.ts";
import { signIn, startAuthorizationServer } from "../support/oauth/authorization-server.ts";
import { startNodeHost } from "../support/node-host.ts";
import { enter, populate, ROOT } from "../support/people.ts";
import { type AnyFrame, RawSocket } from "../support/raw-socket.ts";
import { Bar, flag } from "./bar.ts";

type Who = "none" | "driver" | "service" | "user" | "other" | "root";
type Whose = "own" | "foreign" | "absent";

/** Arguments that name an object, and how to name one's own, the victim's and one that does not exist. */
const IDS: Record<string, (whose: Whose, caller: Person) => unknown> = {
  uid: (whose, caller) => ({ own: caller.uid, foreign: victim.uid, absent: 99_999 })[whose],
  gid: (whose, caller) => ({ own: caller.uid, foreign: victim.uid, absent: 998 })[whose],
  username: (whose, caller) => ({ own: caller.username, foreign: victim.username, absent: "nobody" })[whose],
  key: (whose, caller) =>
    ({ own: `users/${caller.uid}/ai/model`, foreign: `users/${victim.uid}/ai/model`, absent: "users/99999/ai/model" })[whose],
  path: (whose, caller) =>
    ({
      own: `${caller.username === "root" ? "/root" : `/home/${caller.username}`}/mine`,
      foreign: "/home/victim/secret",
      absent: "/home/victim/nothing",
    })[whose],
  from: (whose, caller) => ({ path: IDS.path!(whose, caller) }),
  to: (whose, caller) => ({ path: IDS.path!(whose, caller) }),
  cwd: (whose, caller) =>
    ({
      own: caller.username === "root" ? "/root" : `/home/${caller.username}`,
      foreign: "/home/victim/folder",
      absent: "/home/victim/nowhere",
    })[whose],
  sessionId: (whose, caller) =>
    whose === "absent" ? "sh_00000000-0000-4000-8000-000000000000" : freshSession(whose === "own" ? caller : victim),
  deviceId: (whose) => ({ own: "my-laptop", foreign: "victims-laptop", absent: "nobodys-laptop" })[whose],
  target: (whose) => ({ own: "gsv", foreign: "victims-laptop", absent: "nobodys-laptop" })[whose],
  repo: (whose, caller) => ({ own: `${caller.username}/mine`, foreign: "victim/secret", absent: "victim/nothing" })[whose],
  owner: (whose, caller) => ({ own: caller.username, foreign: "victim", absent: "nobody" })[whose],
  workspaceId: async (whose, caller) => {
    if (whose === "absent") return "ws_00000000-0000-4000-8000-000000000000";
    return whose === "own" ? freshWorkspace(caller) : victimsWorkspace;
  },
  pid: (whose, caller) => ({ own: `init:${caller.uid}`, foreign: `init:${victim.uid}`, absent: "init:99999" })[whose],
  parentPid: (whose, caller) => IDS.pid!(whose, caller),
  requestId: (whose) => (whose === "foreign" ? victims.requestId : NOBODYS),
  grantId: (whose) => (whose === "foreign" ? victims.grantId : NOBODYS),
  serverId: (whose, caller) => (whose === "absent" ? "aaaaaaaa" : ownServer(whose === "own" ? caller.uid : victim.uid)),
  accountId: (whose, caller) => (whose === "absent" ? NOBODYS : ownAccount(whose === "own" ? caller.uid : victim.uid)),
  tokenId: async (whose, caller) =>
    whose === "absent" ? "00000000-0000-4000-8000-000000000000" : freshToken(whose === "own" ? caller.uid : victim.uid),
  codeId: (whose, caller) => (whose === "absent" ? NOBODYS : freshCode(whose === "own" ? caller : victim)),
  ownerUid: (whose, caller) => IDS.uid!(whose, caller),
  id: (whose, caller) => ({ own: () => freshSchedule(caller), foreign: () => victims.scheduleId, absent: () => NOBODYS })[whose](),
  "sched.runs before": async (whose, caller) => ({ own: (await listedRun(caller)).runId, foreign: victims.runId, absent: NOBODYS })[whose],
  notificationId: (whose, caller) =>
    ({ own: () => freshNotification(caller), foreign: () => victims.notificationId, absent: () => NOBODYS })[whose](),
  subscriptionId: (whose, caller) =>
    ({ own: () => freshPush(caller), foreign: () => victims.subscriptionId, absent: () => NOBODYS })[whose](),
  watchId: (whose, caller) => ({ own: () => freshWatch(caller), foreign: () => victims.watchId, absent: () => NOBODYS })[whose](),
  "signal.unwatch key": async (whose, caller) => {
    if (whose === "own") await freshWatch(caller);
    return keyOf({ own: caller.username, foreign: victim.username, absent: "nobody" }[whose]);
  },
  processId: async (whose, caller) => (whose === "own" ? ownChild(caller) : IDS.pid!(whose, caller)),
};

/** Objects that a call names inside an argument: the arguments that name one. */
const INSIDE: Record<
  string,
  Record<string, (pid: unknown, caller: Person) => Promise<Record<string, unknown>> | Record<string, unknown>>
> = {
  "sched.add": {
    "target.pid": (pid) => ({ target: { ...EVENT, pid } }),
    "target.parentPid": (parentPid) => ({ target: { ...SPAWN, parentPid } }),
  },
  "sched.update": {
    "patch.target.pid": async (pid, caller) => ({ id: await freshSchedule(caller), patch: { target: { ...EVENT, pid } } }),
    "patch.target.parentPid": async (parentPid, caller) => ({
      id: await freshSchedule(caller),
      patch: { target: { ...SPAWN, parentPid } },
    }),
  },
};
const EVENT = { kind: "process.event" as const, message: "x" };
const SPAWN = { kind: "process.spawn" as const, prompt: "x" };

/** Arguments that do not name an existing object. Every new argument must be added here or above, so that none is forgotten. */
const PLAIN = new Set(
  (
    "protocol client driver auth password rootPassword timezone ai node code value kind label allowedRole allowedDeviceId " +
    "expiresAt firstUseWithinMs mounts bootstrap reason gecos groups current revokeTokens locked name members capability " +
    "offset limit plain argv content oldString newString replaceAll query include includeOffline input timeout wait yieldMs background until after tty resize signal streams " +
    "body size tag mode progress profile tryModel clientNow lane draft messages provider model apiKey baseUrl " +
    // Ids within a named process; checked only after access to the process was.
    "runId conversationId targetConversationId segmentId throughMessageId beforeMessageId afterMessageId tail messageIds includeClosed includeLiveSuffix title archive " +
    "pauseQueue summary generateSummary keepLast overflow compactAtPressure withText whole before call args policy decision remember scope ttlMs " +
    "metadata timeoutMs media mimeType prompt assignment workspace days " +
    // Names within a named repository; read only after access to it was checked.
    "ref description public prefix commit context base head stat message expectedHead allowEmpty ops remoteUrl remoteRef state " +
    "url callbackHost transport oauth arguments tools accountKey authorizationEndpoint tokenEndpoint clientId redirectUri scope resource " +
    "extraAuthParams includePending uri " +
    // Of schedules, notifications and watches. The objects inside target and patch are listed above.
    "enabled expression catchUp notify includeDisabled patch words isSentence hours count level actions includeRead includeDismissed once " +
    "endpoint keys mayAllow levels settings thinking maxTokens posture isPinned"
  ).split(" "),
);
/** Arguments that name an object in other calls only. */
const PLAIN_HERE: ReadonlySet<string> = new Set(["sched.add target", "signal.watch key"]);

/** How to name objects by this argument; undefined if it names none. */
function idOf(call: Syscall, name: string): (typeof IDS)[string] | undefined {
  const here = `${call.name} ${name}`;
  return PLAIN_HERE.has(here) ? undefined : (IDS[here] ?? IDS[name]);
}

/** The expiry of tokens, the same for all of them. */
const SOON = Date.now() + 3_600_000;
const NOBODYS = "00000000-0000-4000-8000-000000000000";

/** The argument by which a call names what it creates, which does not exist yet. */
const CREATED_BY: Record<string, string> = { "sys.user.create": "username", "sys.setup": "username" };

/** The body number in the examples. */
const BODY = 1;

type Person = { username: string; uid: number };
const victim: Person = { username: "victim", uid: 0 };
const people = new Map<string, Person>();
const listedRuns = new Map<number, { scheduleId: string; runId: string }>();
const ownChildren = new Map<number, string>();

const bar = new Bar("B01 trust:authz");
const host: Host =
  flag("host") === "cloudflare" ? await (await import("../support/cloudflare-host.ts")).startCloudflareHost() : await startNodeHost();
await populate(host);
// Logs in by token, because some cell changes root's password.
const { token: adminToken } = await (await enter(host, ROOT)).call("sys.token.create", { kind: "user" });
const admin = await enter(host, { username: "root", token: adminToken.token }, { id: "authz-admin" });
for (const username of ["victim", "mallory", "oscar"]) {
  const { user } = await admin.call("sys.user.create", { username, password: "long enough" });
  if (username === "victim") victim.uid = user.uid;
}
for (const { username, uid } of (await admin.call("sys.user.list", {})).users) people.set(username, { username, uid });
await admin.call("sys.config.set", { key: `users/${victim.uid}/ai/model`, value: "the victim's" });
await admin.call("fs.write", { path: "/home/victim/secret", content: "the victim's" });
await admin.call("repo.apply", { repo: "victim/secret", message: "hide", ops: [{ type: "put", path: "a", content: "the victim's" }] });
const victimsWorkspace = await freshWorkspace(victim);
/** Stays connected: root does not see the notifications and watches of others. */
const victimsClient = await clientOf(victim);
const victims = {
  ...(await questions()),
  ...(await listedRun(victim)),
  notificationId: await freshNotification(victim),
  watchId: await freshWatch(victim),
  subscriptionId: await freshPush(victim),
};
await admin.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1" });
const mcpServer = await startMcpServer();
const callback = `${host.url}/oauth/callback`;
const provider = await startAuthorizationServer({
  clients: [{ client_id: "gsv", redirect_uris: [callback], token_endpoint_auth_method: "none" }],
});
await registerDevice("victim", victim.uid, "victims-laptop");
const online = await registerDevice("victim", victim.uid, "victims-desk", true);

for (const call of kernelCalls) {
  for (const name of Object.keys((call.args as unknown as { shape: Record<string, unknown> }).shape)) {
    const isKnown = idOf(call, name) !== undefined || PLAIN.has(name) || PLAIN_HERE.has(`${call.name} ${name}`);
    bar.check("arguments classified", isKnown, () => `${call.name}: is ${name} the id of something?`);
  }
}
for (const who of ["none", "driver", "service", "user", "other", "root"] as const) {
  for (const call of kernelCalls) await checkCells(who, call);
  await checkUnknownName(who);
}
for (const who of ["user", "other"] as const) for (const id of ["victims-laptop", "victims-desk"]) await checkDeviceIds(who, id);
online.terminate();
await mcpServer.close();
await provider.close();
bar.numbers.syscalls = kernelCalls.length;
victimsClient.close();
admin.close();
await host.close();
bar.end();

/** An argument by which a call names an object, or a place inside one. */
type Cell = { id: string; makeId: (typeof IDS)[string]; argsOf: (typeof INSIDE)[string][string] };

/** Checks all cells of one caller and one call. */
async function checkCells(who: Who, call: Syscall): Promise<void> {
  const person = personOf(who);
  const shape = Object.keys((call.args as unknown as { shape: Record<string, unknown> }).shape);
  checkDecision(who, call, await ask(who, call, {}));
  const cells = shape.flatMap((name): Cell[] => {
    const id = CREATED_BY[call.name] === name ? undefined : idOf(call, name);
    return id === undefined ? [] : [{ id: name, makeId: id, argsOf: (value) => ({ [name]: value }) }];
  });
  for (const [id, argsOf] of Object.entries(INSIDE[call.name] ?? {})) cells.push({ id, makeId: IDS.pid!, argsOf });
  for (const { id, makeId, argsOf } of cells) {
    const answers: Partial<Record<Whose, string>> = {};
    for (const whose of ["own", "foreign", "absent"] as const) {
      const value = await makeId(whose, person);
      const args = await argsOf(value, person);
      // Root may change what is the victim's.
      const before = who !== "root" && whose === "foreign" ? await stateOfVictim() : null;
      const answer = await ask(who, call, args);
      checkDecision(who, call, answer);
      answers[whose] = mask(answer, value);
      if (before !== null) {
        bar.check(
          "foreign untouched",
          before === (await stateOfVictim()),
          () => `${who} ${call.name} ${id}=${String(value)} changed what is the victim's`,
        );
      }
    }
    if (who !== "root") {
      bar.check(
        "foreign equals absent",
        answers.foreign === answers.absent,
        () => `${who} ${call.name} ${id}: ${answers.foreign} but ${answers.absent}`,
      );
    }
  }
}

/** For a name that does not exist, strangers get the usual refusal, and everybody else a 404, whatever they may call. */
async function checkUnknownName(who: Who): Promise<void> {
  const answer = await request(who, "no.such.call", {});
  const [code, message] = who === "none" ? [403, "Must call sys.connect first"] : [404, "Unknown syscall: no.such.call"];
  const isRight = answer.error?.code === code && answer.error?.message === message;
  bar.check("decisions", isRight, () => `${who} no.such.call: ${JSON.stringify(answer)}`);
}

/** Checks the answer against the call's declaration. */
function checkDecision(who: Who, call: Syscall, answer: AnyFrame): void {
  const code = answer.ok ? 200 : (answer.error?.code ?? 0);
  const story = () => `${who} ${call.name}: ${JSON.stringify(answer)}`;
  const forStrangers = call.from.includes("stranger");
  if (who === "none") {
    const refused = code === 403 && answer.error?.message === "Must call sys.connect first";
    return bar.check("decisions", forStrangers ? code === (call.when === "setup" ? 409 : 401) : refused, story);
  }
  if (forStrangers) return bar.check("decisions", code === 409, story);
  if (!mayCall(who, call))
    return bar.check("decisions", code === 403 && answer.error?.message === `Permission denied: ${call.name}`, story);
  bar.check("decisions", code !== 500 && answer.error?.message !== `Permission denied: ${call.name}`, story);
}

function mayCall(who: Who, call: Syscall): boolean {
  // No caller here is a process.
  if (call.only === "processes") return false;
  switch (who) {
    case "root":
      return call.from.includes("user");
    case "user":
    case "other":
      return call.from.includes("user") && call.grant.includes("users");
    case "service":
      return call.from.includes("service") && call.grant.includes("services");
    default:
      return false;
  }
}

async function ask(who: Who, call: Syscall, ids: Record<string, unknown>): Promise<AnyFrame> {
  const { auth: _, ...example } = call.example.args;
  const plain = Object.fromEntries(
    Object.entries(example).filter(([name]) => idOf(call, name) === undefined || CREATED_BY[call.name] === name),
  );
  const isConfig = "key" in call.example.args && idOf(call, "key") === IDS.key;
  const needed = isConfig && !("key" in ids) ? { key: "config/server/name" } : await ownPlaces(call, who, ids);
  const url = "url" in example ? { url: mcpServer.url } : {};
  return request(who, call.name, { ...plain, ...url, ...needed, ...ids });
}

/** Sends one request on a new socket, so that a cell that closes its socket does not affect the next. */
async function request(who: Who, call: string, args: Record<string, unknown>, key?: string): Promise<AnyFrame> {
  const socket = await RawSocket.open(host.url);
  let tokenId: string | null = null;
  try {
    if (who !== "none") tokenId = await logIn(socket, who);
    socket.sendFrame({ type: "req", id: "cell", call, args, ...(key === undefined ? {} : { key }) });
    for (;;) {
      const frame = await socket.frame();
      if (frame.id === "cell") return frame;
      // The call was allowed and waits for a body.
      if (frame.signal === "body") socket.sendFrame({ type: "sig", signal: "body", payload: { id: BODY, kind: "stop", why: "enough" } });
    }
  } finally {
    socket.terminate();
    // A user may have a thousand.
    if (tokenId !== null) await admin.call("sys.token.revoke", { tokenId });
  }
}

/** Both paths of a copy, so that one of them can be judged; the schedule of a run. */
async function ownPlaces({ name, example }: Syscall, who: Who, ids: Record<string, unknown>): Promise<Record<string, unknown>> {
  if (name === "sched.runs" && "before" in ids) return { id: (await listedRun(personOf(who))).scheduleId };
  if (!("from" in example.args)) return {};
  const own = { path: IDS.path!("own", personOf(who)) };
  return { from: own, to: own };
}

/** Everything else that takes a device id: no answer reveals whether another user has a device of that id. */
async function checkDeviceIds(who: "user" | "other", foreign: string): Promise<void> {
  const here = { path: "/etc/passwd" };
  const probes: Record<string, (id: string) => Promise<AnyFrame>> = {
    "fs.copy from": (id) => request(who, "fs.copy", { from: { target: id, path: "x" }, to: { path: "y" } }),
    "fs.copy to": (id) => request(who, "fs.copy", { from: here, to: { target: id, path: "x" } }),
    "shell.exec session": (id) => request(who, "shell.exec", { target: id, sessionId: NOBODYS, input: "" }),
    "shell.exec key": (id) => request(who, "shell.exec", { target: id, input: "ls" }, "a key"),
    "proc.approval.preview": (id) => request(who, "proc.approval.preview", { call: "shell.exec", args: { target: id, input: "rm -r x" } }),
    "fs.read /sys/devices": (id) => request(who, "fs.read", { path: `/sys/devices/${id}` }),
    "fs.read owner@id": (id) => request(who, "fs.read", { target: `victim@${id}`, path: "x" }),
    "sys.token.create": (id) => request(who, "sys.token.create", { kind: "node", allowedDeviceId: id, expiresAt: SOON }),
    "sys.connect": (id) => connectAs(who, id),
  };
  for (const [name, ask] of Object.entries(probes)) {
    const [theirs, nobodys] = [await ask(foreign), await ask(`no${foreign}`)];
    const [one, other] = [withoutId(theirs, foreign), withoutId(nobodys, `no${foreign}`)];
    bar.check("device ids", one === other, () => `${who} ${name} ${foreign}: ${one} but ${other}`);
  }
}

/** Connects as the driver of a device with that id, and removes the device afterwards. */
async function connectAs(who: "user" | "other", id: string): Promise<AnyFrame> {
  const { username, uid } = personOf(who);
  const { token } = await admin.call("sys.token.create", { kind: "node", uid });
  const socket = await RawSocket.open(host.url);
  const answer = await socket.call("sys.connect", driverArgs(username, token.token, id));
  await request(who, "sys.device.remove", { deviceId: id });
  socket.terminate();
  return answer;
}

/** The answer without the id and without values that are new in each answer. */
function withoutId(answer: AnyFrame, id: string): string {
  return JSON.stringify(answer)
    .replaceAll(id, "<id>")
    .replaceAll(/"(connectionId|tokenId|token|tokenPrefix|createdAt)":("[^"]*"|\d+)/g, '"$1":""');
}

function driverArgs(username: string, token: string, id: string): Record<string, unknown> {
  return {
    protocol: 1,
    client: { id, version: "0", platform: "test", role: "driver" },
    driver: { implements: ["fs.*"] },
    auth: { username, token },
  };
}

/** Registers a device of the victim; it stays connected only with `stays`. */
async function registerDevice(username: string, uid: number, id: string, stays = false): Promise<RawSocket> {
  const { token } = await admin.call("sys.token.create", { kind: "node", uid });
  const socket = await RawSocket.open(host.url);
  await socket.call("sys.connect", driverArgs(username, token.token, id));
  if (stays) return socket;
  socket.close();
  await socket.closed;
  return socket;
}

/** Returns the id of the token that it made. */
async function logIn(socket: RawSocket, who: Exclude<Who, "none">): Promise<string> {
  const kind = ({ driver: "node", service: "service" } as const)[who as "driver"] ?? "user";
  const person = personOf(who);
  const { token } = await admin.call("sys.token.create", { kind, uid: person.uid });
  const role = { node: "driver", service: "service", user: "user" }[kind];
  const answer = await socket.call("sys.connect", {
    protocol: 1,
    client: { id: `authz-${who}`, version: "0", platform: "test", role, channel: "test" },
    driver: { implements: ["fs.*"] },
    auth: { username: person.username, token: token.token },
  });
  if (answer.ok === false) throw new Error(`${who} cannot log in: ${answer.error?.message}`);
  return token.tokenId;
}

function personOf(who: Who): Person {
  const username = { none: "mallory", driver: "mallory", service: "root", user: "mallory", other: "oscar", root: "root" }[who];
  return people.get(username)!;
}

/** A user has one code, and a new one replaces it. */
async function freshCode(person: Person): Promise<string> {
  return asPerson(person, async (client) => (await client.call("sys.signin.create", {})).codeId);
}

async function freshToken(uid: number): Promise<string> {
  return (await admin.call("sys.token.create", { kind: "node", uid })).token.tokenId;
}

/** Every user has one MCP server; it is there again after it was removed. */
async function ownServer(uid: number): Promise<string> {
  return (await admin.call("sys.mcp.add", { uid, name: "own", url: mcpServer.url })).server.serverId;
}

/** Every user has one account; it is there again after it was forgotten. */
async function ownAccount(uid: number): Promise<string> {
  const [known] = (await admin.call("sys.oauth.list", { uid })).accounts;
  if (known !== undefined) return known.accountId;
  const endpoints = { authorizationEndpoint: `${provider.issuer}/auth`, tokenEndpoint: `${provider.issuer}/token` };
  const { authorizationUrl } = await admin.call("sys.oauth.start", {
    uid,
    kind: "generic",
    provider: "own",
    clientId: "gsv",
    redirectUri: callback,
    ...endpoints,
  });
  await fetch(await signIn(authorizationUrl));
  return (await admin.call("sys.oauth.list", { uid })).accounts[0]!.accountId;
}

/** Starts a command that waits for a line of input. */
async function freshSession({ username, uid }: Person): Promise<string> {
  const { token } = await admin.call("sys.token.create", { kind: "user", uid });
  const client = await enter(host, { username, token: token.token });
  const started = await client.call("shell.exec", { input: "read line; echo $line", timeout: 10_000 });
  client.close();
  if (started.status !== "running") throw new Error(`no session for ${username}: ${JSON.stringify(started)}`);
  return started.sessionId;
}

/** The victim's agent has one remembered approval, and one open question. */
async function questions(): Promise<{ requestId: string; grantId: string }> {
  const pid = `init:${victim.uid}`;
  const model = await ScriptedModel.start();
  await model.serve(admin, victim.uid);
  const remove = (path: string) => wants(["Delete", { target: "gsv", path: `/home/victim/${path}` }]);
  model.on("Tidy up.", remove("one"), remove("two"));
  await admin.call("proc.send", { pid, message: "Tidy up." });
  const first = await question(pid, null);
  const { grant } = await admin.call("proc.hil", { requestId: first, decision: "approve", remember: true, scope: "exact" });
  const requestId = await question(pid, first);
  await model.close();
  return { requestId, grantId: grant!.grantId };
}

/** Waits for an open question other than `before`. */
async function question(pid: string, before: string | null): Promise<string> {
  for (const until = Date.now() + 60_000; Date.now() < until;) {
    const { pendingHil } = await admin.call("proc.history", { pid });
    if (pendingHil !== null && pendingHil.requestId !== before) return pendingHil.requestId;
    await sleep(50, new AbortController().signal);
  }
  throw new Error("the victim's agent asks nothing");
}

async function freshWorkspace(person: Person): Promise<string> {
  return asPerson(person, async (client) => (await client.call("sys.workspace.create", {})).workspace.workspaceId);
}

async function asPerson<T>(person: Person, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await clientOf(person);
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

async function clientOf({ username, uid }: Person): Promise<Client> {
  const { token } = await admin.call("sys.token.create", { kind: "user", uid });
  return enter(host, { username, token: token.token });
}

/** It runs only when it is forced to, and then it fails. */
function freshSchedule(person: Person): Promise<string> {
  const target = { ...SPAWN, workspace: { mode: "attach" as const, workspaceId: "ws_none" } };
  const expression = { kind: "cron" as const, expr: "0 0 1 1 *", timezone: "UTC" };
  return asPerson(
    person,
    async (client) => (await client.call("sched.add", { name: "own", expression, target, notify: "none" })).schedule.id,
  );
}

/** Every user has one schedule that has run once. */
async function listedRun(person: Person): Promise<{ scheduleId: string; runId: string }> {
  const known = listedRuns.get(person.uid);
  if (known !== undefined) return known;
  const scheduleId = await freshSchedule(person);
  const listed = await asPerson(person, async (client) => {
    await client.call("sched.run", { id: scheduleId, mode: "force" });
    return { scheduleId, runId: (await client.call("sched.runs", { id: scheduleId })).runs[0]!.runId };
  });
  listedRuns.set(person.uid, listed);
  return listed;
}

function freshNotification(person: Person): Promise<string> {
  return asPerson(person, async (client) => (await client.call("notification.create", { title: "own" })).notification.notificationId);
}

/** Every user has one watch; it is there again after it was removed. */
async function freshWatch(person: Person): Promise<string> {
  const watch = { signal: "proc.run.finished", processId: await ownChild(person), key: keyOf(person.username) };
  return asPerson(person, async (client) => (await client.call("signal.watch", watch)).watchId);
}

/** Its push service does not answer. Only the newest one of a user stays, because their number is limited. */
async function freshPush(person: Person): Promise<string> {
  return asPerson(person, async (client) => {
    for (const { subscriptionId } of (await client.call("notification.push.list", {})).subscriptions)
      await client.call("notification.push.unsubscribe", { subscriptionId });
    const { keys } = callsByName.get("notification.push.subscribe")!.example.args as { keys: { p256dh: string; auth: string } };
    const args = { endpoint: `http://127.0.0.1:9/${crypto.randomUUID()}`, keys, label: "browser" };
    return (await client.call("notification.push.subscribe", args)).subscription.subscriptionId;
  });
}

function keyOf(username: string): string {
  return `key of ${username}`;
}

/** Every user has one process besides their init. */
async function ownChild(person: Person): Promise<string> {
  const known = ownChildren.get(person.uid);
  if (known !== undefined) return known;
  const pid = await asPerson(person, async (client) => (await client.call("proc.spawn", { profile: "task" })).pid);
  ownChildren.set(person.uid, pid);
  return pid;
}

async function stateOfVictim(): Promise<string> {
  const [tokens, config, users, groups, capabilities] = await Promise.all([
    admin.call("sys.token.list", { uid: victim.uid }),
    admin.call("sys.config.get", { key: `users/${victim.uid}` }),
    admin.call("sys.user.list", {}),
    admin.call("sys.group.list", {}),
    admin.call("sys.capability.list", {}),
  ]);
  const secret = await admin.call("fs.read", { path: "/home/victim/secret" });
  const { workspaces } = await admin.call("sys.workspace.list", { uid: victim.uid });
  const repos = await Promise.all([admin.call("repo.list", { owner: "victim" }), admin.call("repo.log", { repo: "victim/secret" })]);
  const pid = `init:${victim.uid}`;
  const processes = await Promise.all([
    admin.call("proc.list", { uid: victim.uid }),
    admin.call("proc.history", { pid }),
    admin.call("proc.conversation.list", { pid, includeClosed: true }),
    admin.call("proc.approval.list", { pid }),
    admin.call("proc.queue.list", { pid }),
  ]);
  const [{ servers }, { accounts }] = await Promise.all([
    admin.call("sys.mcp.list", { uid: victim.uid }),
    admin.call("sys.oauth.list", { uid: victim.uid }),
  ]);
  const { schedules } = await admin.call("sched.list", { ownerUid: victim.uid, includeDisabled: true });
  const timed = await Promise.all([
    victimsClient.call("notification.list", { includeDismissed: true }),
    victimsClient.call("signal.list", {}),
    victimsClient
      .call("notification.push.list", {})
      .then(({ subscriptions }) => subscriptions.map(({ subscriptionId, level, mayAllow }) => [subscriptionId, level, mayAllow])),
    victimsClient.call("notification.settings.get", {}),
    ...schedules.map(({ id }) => admin.call("sched.runs", { id })),
  ]);
  // A server is read again by whoever owns it, and an account that was used says when.
  const integrations = [servers.map(({ serverId }) => serverId), accounts.map(({ accountId }) => accountId)];
  return JSON.stringify([
    tokens,
    config,
    users,
    groups,
    capabilities,
    secret,
    workspaces,
    repos,
    processes,
    integrations,
    schedules,
    timed,
  ]);
}

/** The answer without the id that it echoes. */
function mask(answer: AnyFrame, value: unknown): string {
  const text = typeof value === "object" && value !== null && "path" in value ? value.path : value;
  return JSON.stringify(answer).replaceAll(String(text), "<id>");
}
