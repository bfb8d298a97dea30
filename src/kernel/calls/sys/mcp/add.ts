// Connects an MCP server.

import { z } from "zod";
import { Uid } from "../../../../protocol/records.ts";
import { MCP_SERVER_EXAMPLE, McpServerSummary, McpTransportType } from "../../../../protocol/mcp-records.ts";
import { syscall } from "../../define.ts";

const HEADERS_MAX = 20;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const HeaderValue = z
  .string({ error: "transport.headers values must be strings" })
  .max(8_192)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, { error: "transport.headers values must be of one line, and of characters that headers can have" });

export default syscall({
  name: "sys.mcp.add",
  doc: "Connect an MCP server, whose tools the user's agents can then call from scripts and from the command mcp. If the server wants a sign-in, the state is authenticating and authUrl is the page to open. The definitions of its tools are accepted as they are now, unless an agent adds it; a tool that changes later must be accepted again (sys.mcp.accept). Headers are stored encrypted. callbackHost is the gateway's address that the sign-in page returns to, by default the one the caller uses. oauth is for servers that accept only a client registered with them beforehand; its tokenHost allows that what the sign-in page returns is sent to that host, where it is not the page's own. A server with the same name and URL is returned as it is.",
  runs: "kernel",
  does: "effect",
  changes: "mcp",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    uid: Uid.optional(),
    name: z
      .string({ error: "name must be 1-80 characters" })
      .trim()
      .min(1, { error: "name must be 1-80 characters" })
      .max(80, { error: "name must be 1-80 characters" })
      .regex(/^[^\p{C}]*$/u, { error: "name must not contain control characters" }),
    url: z.string().trim().min(1).max(2_048),
    callbackHost: z.string().trim().max(2_048).optional(),
    transport: z
      .object({
        type: McpTransportType.optional(),
        headers: z
          .record(z.string(), HeaderValue)
          .refine((headers) => Object.keys(headers).every((name) => HEADER_NAME.test(name)), {
            error: "transport.headers names must be header names",
          })
          .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, {
            error: `transport.headers has at most ${HEADERS_MAX} headers`,
          })
          .optional(),
      })
      .optional(),
    oauth: z
      .object({
        clientId: z.string().min(1).max(512).optional(),
        clientSecret: z.string().min(1).max(4_096).optional(),
        tokenHost: z
          .string()
          .max(255)
          .regex(/^[a-z0-9.[\]-]+(?::\d+)?$/, { error: "oauth.tokenHost must be a host, such as api.example.com" })
          .optional(),
      })
      .optional(),
  }),
  result: z.object({ server: McpServerSummary }),
  fails: {
    400: "the name, the URL, a header or callbackHost is not valid",
    403: "uid names another user",
    404: "the uid that root named does not exist",
    409: "the user has too many servers",
    503: "the server cannot be reached, or does not speak MCP; nothing was stored",
  },
  example: {
    args: { name: "Linear", url: "https://mcp.linear.example/mcp" },
    result: { server: { ...MCP_SERVER_EXAMPLE, state: "authenticating", authUrl: "https://linear.example/authorize?...", tools: [] } },
  },
  async run({ mcp, signal }, caller, args) {
    return { server: await mcp.add(caller, args, signal) };
  },
});
