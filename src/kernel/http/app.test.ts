import { expect, test, vi } from "vitest";
import { makeHttpApp } from "./app.ts";

test("an error in a route is logged as an incident, and nothing is written to the console", async () => {
  const consoleError = vi.spyOn(console, "error").mockImplementation(() => {});
  const incidents: string[] = [];
  const app = makeHttpApp({
    version: "0.0.0",
    startedAt: 0,
    isSetupMode: () => false,
    isOperator: () => false,
    metrics: null,
    serveGit: () => Promise.reject(new Error("not asked")),
    answerPush: () => Promise.reject(new Error("nobody is asked")),
    finishSignIn: () => Promise.reject(new Error("not asked")),
    downloads: () => Promise.reject(new Error("the folder is gone")),
    logIncident: (error, address) => `${incidents.push(`${address}: ${String(error)}`)}`,
  });
  const response = await app.fetch(new Request("http://localhost/downloads/cli/install.sh"), {
    address: "192.0.2.7",
    origin: "http://localhost",
  });
  expect([response.status, await response.text()]).toEqual([500, "Internal error (incident 1)\n"]);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(incidents).toEqual(["192.0.2.7: Error: the folder is gone"]);
  expect(consoleError).not.toHaveBeenCalled();
  consoleError.mockRestore();
});
