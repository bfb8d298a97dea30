// Which answers of a provider end a sign-in, and which are only a failed request.

import { expect, test } from "vitest";
import type { Net } from "../../ports/net.ts";
import { requestTokens } from "./token-endpoint.ts";

const CLIENT = { tokenEndpoint: "https://id.example/token", clientId: "gsv", clientSecret: null, tokenAuth: "none" } as const;

function netOf(status: number, body: string): Net {
  return { fetch: async ({ url }) => ({ status, headers: {}, url, body: new Blob([body]).stream() }) };
}

test.each<[status: number, body: string, isFinal: boolean]>([
  [400, '{"error":"invalid_grant"}', true],
  [401, '{"error":"invalid_client","error_description":"unknown"}', true],
  [200, '{"error":"bad_refresh_token"}', true],
  [400, '{"error":"slow_down"}', false],
  [400, '{"error":"temporarily_unavailable"}', false],
  [429, '{"error":"invalid_request"}', false],
  [403, "<html>a proxy in between</html>", false],
  [500, '{"error":"invalid_grant"}', false],
  [200, "<html>We will be back soon</html>", false],
  [200, '{"token_type":"Bearer"}', false],
])("HTTP %d with %s: the sign-in has ended: %s", async (status, body, isFinal) => {
  const asked = requestTokens(netOf(status, body), CLIENT, { grant_type: "refresh_token" }, () => 0);
  await expect(asked).rejects.toMatchObject({ name: "TokenError", isFinal });
});
