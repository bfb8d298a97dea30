// All cases, registered by being imported.

import "./bodies.ts";
import "./wire.ts";
import "./limits.ts";
import "./connect.ts";
import "./setup.ts";
import "./setup-help.ts";
import "./config.ts";
import "./token.ts";
import "./user.ts";
import "./fs.ts";
import "./git-files.ts";
import "./shell.ts";
import "./device.ts";
import "./doctor.ts";
import "./repo.ts";
import "./runs.ts";
import "./following.ts";
import "./stops.ts";
import "./conversations.ts";
import "./proc-search.ts";
import "./approvals.ts";
import "./processes.ts";
import "./workspaces.ts";
import "./ai.ts";
import "./ipc.ts";
import "./guards.ts";
