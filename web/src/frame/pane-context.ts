// Which pane something is in; null for the frame itself.

import { createContext } from "preact";
import type { PaneName } from "./route.ts";

export const PaneContext = createContext<PaneName | null>(null);
