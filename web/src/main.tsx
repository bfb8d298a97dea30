// Entry point of the web desktop.

import { render } from "preact";
import { Desktop } from "./frame/desktop.tsx";
import { startSession } from "./state/session.ts";
import { followAppearance } from "./state/theme.ts";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/entries.css";

followAppearance();
render(<Desktop />, document.getElementById("app")!);
void startSession();
