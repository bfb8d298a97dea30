// The pane that a component is in; null in the frame.

import { createContext } from "preact";
import type { PaneName } from "./route.ts";

export const PaneContext = createContext<PaneName | null>(null);
