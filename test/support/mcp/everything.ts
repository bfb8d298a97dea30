// Starts the reference server that the MCP project publishes, @modelcontextprotocol/server-everything, as a program of its own: the peer
// that nobody here wrote. What it offers is theirs; a server whose answers a test decides is server.ts beside it.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";

export type EverythingServer = { url: string; close(): Promise<void> };

/**
 * Runs in the program before the server does. The server would listen on every interface and say the port it was given, not the one
 * it has: this binds it to 127.0.0.1 and reports the port. The channel also ends the program when the test's process ends.
 */
const PRELOAD = `
import { Server } from "node:net";
const listen = Server.prototype.listen;
Server.prototype.listen = function (...args) {
  Server.prototype.listen = listen;
  const onListening = args.findLast((argument) => typeof argument === "function");
  this.once("listening", () => process.send({ port: this.address().port }));
  return listen.call(this, 0, "127.0.0.1", onListening);
};
process.on("disconnect", () => process.exit());
`;

export async function startEverything(transport: "streamableHttp" | "sse"): Promise<EverythingServer> {
  const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
  const preload = `data:text/javascript,${encodeURIComponent(PRELOAD)}`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ["--import", preload, program, transport], {
    env: { ...env, PORT: "0" },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let said = "";
  child.stderr?.on("data", (part: Buffer) => (said = `${said}${part.toString()}`.slice(-4000)));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`server-everything ended with ${code} before it listened: ${said}`)));
    child.once("message", (message) => {
      if (typeof message === "object" && message !== null && "port" in message) resolve(Number(message.port));
      else reject(new Error("server-everything sent something else than its port"));
    });
  });
  return {
    url: `http://127.0.0.1:${port}/${transport === "sse" ? "sse" : "mcp"}`,
    close: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
