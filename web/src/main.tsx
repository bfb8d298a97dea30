// Entry point of the web desktop.

import { render } from "preact";
import { Desktop } from "./frame/desktop.tsx";
import { Lazy } from "./frame/lazy.tsx";
import { startSession } from "./state/session.ts";
import "./state/install-offer.ts";
import { followAppearance } from "./state/theme.ts";
import "./ui/fonts.css";
import "./ui/tokens.css";
import "./ui/base.css";
import "./ui/entries.css";

const SIGN_IN = "#sign-in=";
const loadConfirmPage = () => import("./sign-in/confirm-page.tsx");

followAppearance();
const { hash } = location;
const isSignIn = hash.startsWith(SIGN_IN);
// Nobody finds the code in the address bar or the history.
if (isSignIn) history.replaceState(null, "", "/");
render(isSignIn ? <Lazy load={loadConfirmPage} props={{ fragment: hash }} /> : <Desktop />, document.getElementById("app")!);
void startSession();
// The link was opened in the place of this page, which browsers do without loading it.
addEventListener("hashchange", () => location.hash.startsWith(SIGN_IN) && location.reload());
