// Cases that wait for a time limit, against the Node host.

import { startNodeHost } from "../support/node-host.ts";
import "./cases/index.ts";
import { conformance } from "./verifies.ts";

conformance("node", () => startNodeHost(), { waits: true });
