// The welcome dialog: for a new user their time zone and what agents may do, for everybody the first steps.

import { arrival } from "../state/arrival.ts";
import { client } from "../state/session.ts";
import { FirstSteps } from "./first-steps.tsx";
import { NewUserWelcome } from "./new-user-welcome.tsx";
import "./arrival.css";
import "./stack-close.css";

export default function ArrivalDialog() {
  const current = arrival.value;
  if (current === null || client.value === null) return null;
  return current.page === "new user" ? (
    <NewUserWelcome />
  ) : (
    <FirstSteps machine={current.machine} hasSameRootPassword={current.hasSameRootPassword === true} />
  );
}
