// The page begins here.

import { render } from "preact";
import { Desktop } from "./frame/desktop.tsx";
import { begin } from "./state/session.ts";
import { wearTheme } from "./state/theme.ts";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/entries.css";

wearTheme();
render(<Desktop />, document.getElementById("app")!);
void begin();
