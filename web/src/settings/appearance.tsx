// Theme and density in this browser.

import { density, type Density, type Theme, theme } from "../state/theme.ts";
import { Card } from "../ui/card.tsx";
import { Radio } from "../ui/choice.tsx";

const THEMES: { value: Theme; label: string }[] = [
  { value: "system", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];
const DENSITIES: { value: Density; label: string; hint: string }[] = [
  { value: "roomy", label: "Roomy", hint: "Easy to read and to touch." },
  { value: "tight", label: "Tight", hint: "More of everything on the screen." },
];

export function Appearance() {
  return (
    <Card title="Look" text="For this browser only.">
      <Radio legend="Theme" value={theme.value} options={THEMES} onValue={(value) => (theme.value = value)} />
      <Radio legend="Density" value={density.value} options={DENSITIES} onValue={(value) => (density.value = value)} />
    </Card>
  );
}
