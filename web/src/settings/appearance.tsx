// Theme and density in this browser.

import { density, type Density, type Theme, theme } from "../state/theme.ts";
import { Card } from "../ui/card.tsx";
import { Radio } from "../ui/choice.tsx";
import { Setting } from "./setting.tsx";

const THEMES: { value: Theme; label: string }[] = [
  { value: "system", label: "Like the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];
const DENSITIES: { value: Density; label: string; hint: string }[] = [
  { value: "roomy", label: "Comfortable", hint: "Easy to read and to touch." },
  { value: "tight", label: "Compact", hint: "More on the screen." },
];

export function Appearance() {
  return (
    <Card title="Appearance" text="For this browser only. Applies at once.">
      <Setting anchor="theme">
        <Radio legend="Theme" value={theme.value} options={THEMES} onValue={(value) => (theme.value = value)} />
      </Setting>
      <Setting anchor="density">
        <Radio legend="Density" value={density.value} options={DENSITIES} onValue={(value) => (density.value = value)} />
      </Setting>
    </Card>
  );
}
