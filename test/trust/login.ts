// B07: guessing. However many sockets, addresses and entrances an attacker uses, an account's password is checked only a few
// times a minute; the answers reveal nothing; and the owner can still log in.

import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate } from "../support/people.ts";
import { type AnyFrame, RawSocket } from "../support/raw-socket.ts";
import { Bar, numberFlag } from "./bar.ts";

const GUESSES = numberFlag("guesses", 600);
const SAMPLES = numberFlag("samples", 12);
const SOCKETS = 64;

const bar = new Bar("B07 trust:login");
await flood();
await otherEntrances();
await timing();
bar.end();

/** Many sockets from several addresses guess at one account; the owner uses another address. */
async function flood(): Promise<void> {
  const host = await startNodeHost();
  await populate(host);
  await fromHome(host.url);
  const started = Date.now();
  const answers: AnyFrame[] = [];
  await Promise.all(
    Array.from({ length: SOCKETS }, async (_, at) => {
      const guess = async (socket: RawSocket, n: number) =>
        answers.push(await socket.connect({ username: "alice", password: `guess ${at} ${n}` }));
      const socket = await RawSocket.open(host.url, { localAddress: `127.0.1.${1 + (at % 8)}` });
      for (let n = 0; n < GUESSES / SOCKETS; n++) await guess(socket, n);
      socket.terminate();
    }),
  );
  const minutes = Math.max(1, (Date.now() - started) / 60_000);
  const looked = answers.filter((answer) => answer.error?.code === 401).length;
  const refused = answers.filter((answer) => answer.error?.code === 429).length;
  bar.numbers.guesses = answers.length;
  bar.numbers["guesses looked at"] = looked;
  bar.check("account", looked <= 10 * minutes, () => `${looked} guesses were looked at in ${minutes.toFixed(1)} min`);
  bar.check(
    "account",
    looked + refused === answers.length && looked > 0,
    () => `${answers.length - looked - refused} answers were neither 401 nor 429`,
  );
  bar.check(
    "account",
    answers.every(
      (answer) =>
        answer.error?.code !== 429 ||
        (answer.error.retryable === true && typeof (answer.error.details as { retryAfterMs: number }).retryAfterMs === "number"),
    ),
    () => "a 429 does not say when to return",
  );

  // From an address that alice has used before, the right password still works.
  const answer = await fromHome(host.url);
  bar.check("owner", answer.ok === true, () => `the owner was locked out by a guesser: ${JSON.stringify(answer)}`);
  await host.close();
}

async function fromHome(url: string): Promise<AnyFrame> {
  const socket = await RawSocket.open(url);
  const answer = await socket.connect(ALICE);
  socket.terminate();
  return answer;
}

/** The other entrances for passwords and tokens share the throttle. */
async function otherEntrances(): Promise<void> {
  const host = await startNodeHost();
  await populate(host);
  const alice = await enter(host, ALICE);
  const { token } = await alice.call("sys.token.create", { kind: "user" });
  const socket = await RawSocket.open(host.url);
  await socket.connect({ username: "alice", token: token.token });
  const codes: number[] = [];
  for (let at = 0; at < 12; at++)
    codes.push(
      (await socket.call("sys.user.password", { current: `guess ${at}`, password: "long enough" }, String(at))).error?.code ?? 200,
    );
  bar.check(
    "doors",
    codes.filter((code) => code === 401).length <= 5 && codes.at(-1) === 429,
    () => `current passwords: ${codes.join(" ")}`,
  );

  const wrongTokens: number[] = [];
  for (let at = 0; at < 30; at++) {
    const guesser = await RawSocket.open(host.url, { localAddress: "127.0.2.1" });
    wrongTokens.push((await guesser.connect({ username: "alice", token: `gsv_user_${at}` })).error?.code ?? 200);
    guesser.terminate();
  }
  bar.check(
    "doors",
    wrongTokens.filter((code) => code === 401).length <= 21 && wrongTokens.at(-1) === 429,
    () => `tokens: ${wrongTokens.join(" ")}`,
  );
  const right = await RawSocket.open(host.url, { localAddress: "127.0.2.1" });
  bar.check(
    "doors",
    (await right.connect({ username: "alice", token: token.token })).ok === true,
    () => "a right token suffers from its neighbours",
  );
  right.terminate();

  const { code } = await alice.call("sys.signin.create", {});
  const redeem = async (guess: string, localAddress: string) => {
    const guesser = await RawSocket.open(host.url, { localAddress });
    const answer = await guesser.call("sys.signin.redeem", { username: "alice", code: guess });
    guesser.terminate();
    return answer;
  };
  const wrongCodes: AnyFrame[] = [];
  for (let at = 0; at < 30; at++) wrongCodes.push(await redeem(`${code.slice(0, -2)}${at + 10}`, "127.0.2.2"));
  const codesOf = (wanted: number) => wrongCodes.filter(({ error }) => error?.code === wanted);
  bar.check(
    "doors",
    codesOf(401).length <= 21 && codesOf(401).length + codesOf(429).length === 30 && wrongCodes.at(-1)!.error?.code === 429,
    () => `sign-in codes: ${wrongCodes.map(({ error }) => error?.code ?? 200).join(" ")}`,
  );
  bar.check("doors", (await redeem(code, "127.0.2.2")).ok === true, () => "a right sign-in code suffers from its neighbours");
  const used = await redeem(code, "127.0.2.3");
  const told = ({ error }: AnyFrame) => JSON.stringify(error);
  bar.check("doors", told(used) === told(codesOf(401)[0]!), () => `a used sign-in code answers ${told(used)}`);

  const byGit: number[] = [];
  for (let at = 0; at < 12; at++) {
    const headers = { authorization: `Basic ${btoa(`bob:guess ${at}`)}` };
    byGit.push((await fetch(`${host.url}/git/bob/home/info/refs?service=git-upload-pack`, { headers })).status);
  }
  bar.check("doors", byGit.filter((code) => code === 401).length <= 5 && byGit.at(-1) === 429, () => `git: ${byGit.join(" ")}`);
  const beside = await RawSocket.open(host.url);
  const shared = await beside.connect({ username: "bob", password: "guess" });
  bar.check("doors", shared.error?.code === 429, () => `after guessing over git a socket is told ${JSON.stringify(shared)}`);
  beside.terminate();
  socket.terminate();
  alice.close();
  await host.close();
}

/** Known and unknown accounts: the same bytes, and no measurable difference in time. */
async function timing(): Promise<void> {
  const known: Times = { wall: [], cpu: [] };
  const unknown: Times = { wall: [], cpu: [] };
  const bytes = new Set<string>();
  // Each gateway allows 60 tries a minute in total, so a long run uses several gateways.
  for (let done = 0; done < SAMPLES; done += 12) {
    const host = await startNodeHost();
    await populate(host);
    for (let at = 0; at < Math.min(12, SAMPLES - done); at++) {
      // Few tries per account; alice and bob exist, the others do not.
      for (const [name, times] of [
        [at % 2 === 0 ? "alice" : "bob", known],
        [`nobody${at}`, unknown],
      ] as const) {
        const socket = await RawSocket.open(host.url, { localAddress: `127.0.3.${1 + at}` });
        const [started, used] = [performance.now(), process.cpuUsage()];
        const answer = await socket.connect({ username: name, password: "wrong horse" });
        if (answer.error?.code === 401) {
          const { user, system } = process.cpuUsage(used);
          times.wall.push(performance.now() - started);
          times.cpu.push(user + system);
          bytes.add(JSON.stringify(answer));
        }
        socket.terminate();
      }
    }
    await host.close();
  }
  const difference = Math.abs(median(known.wall) - median(unknown.wall)) / median(known.wall);
  bar.numbers["known, median ms"] = Math.round(median(known.wall));
  bar.numbers["unknown, median ms"] = Math.round(median(unknown.wall));
  bar.numbers["difference %"] = Math.round(difference * 100);
  bar.check("enumeration", bytes.size === 1, () => `different answers: ${[...bytes].join(" ")}`);
  // A loaded machine is noisy, so a small sample compares CPU time, which includes the gateway's since it runs in this process; a
  // missing hash would be a difference of nearly 100 %.
  const [least, other] = [Math.min(...known.cpu), Math.min(...unknown.cpu)];
  const between = SAMPLES >= 100 ? difference : Math.abs(least - other) / Math.max(least, other);
  bar.check(
    "enumeration",
    between < (SAMPLES >= 100 ? 0.1 : 0.5),
    () => `known and unknown accounts differ by ${(between * 100).toFixed(0)} %`,
  );
}

type Times = { wall: number[]; cpu: number[] };

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
