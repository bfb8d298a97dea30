// Cases that wait for a time limit, against the Cloudflare host, run locally.

import { startCloudflareHost } from "../support/cloudflare-host.ts";
import "./cases/index.ts";
import { conformance } from "./verifies.ts";

conformance("cloudflare", () => startCloudflareHost(), { waits: true });
