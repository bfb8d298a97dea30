// The switches of a policy: for each place and kind of action Allow, Ask or Never, with what a wide choice means.

import { makeVisible } from "../../../src/approval/visible.ts";
import type { PlaceKind, PlaceSwitches, Switches } from "../../../src/approval/switches.ts";
import { session } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Select } from "../ui/choice.tsx";
import { type Segment, Segments } from "../ui/segments.tsx";
import { Setting } from "./setting.tsx";
import { describeGeneralRisks, describeRisks, GENERAL_WORDS, type GeneralKind, PLACE_WORDS } from "./switch-words.ts";

type Action = PlaceSwitches[PlaceKind];
type PolicySwitchesProps = {
  switches: Switches;
  /** Nobody can be asked. */
  isUnattended: boolean;
  /** For everyone: single machines belong to their owners. */
  isSystem: boolean;
  onChange: (switches: Switches) => void;
};

export function PolicySwitches({ switches, isUnattended, isSystem, onChange }: PolicySwitchesProps) {
  const { gateway, machines, devices } = switches;
  const common = { isUnattended };
  const setDevice = (name: string, place: PlaceSwitches | null) => {
    const { [name]: _, ...others } = devices;
    onChange({ ...switches, devices: place === null ? others : { ...others, [name]: place } });
  };
  return (
    <>
      <Setting anchor="actions">
        <PlaceCard
          {...common}
          title="On the gateway"
          name="the gateway"
          isMachine={false}
          place={gateway}
          onChange={(place) => onChange({ ...switches, gateway: place })}
        />
      </Setting>
      <Setting anchor="machines">
        <PlaceCard
          {...common}
          title={Object.keys(devices).length === 0 ? "On machines" : "On other machines"}
          name="machines"
          isMachine
          place={machines}
          onChange={(place) => onChange({ ...switches, machines: place })}
        />
      </Setting>
      {Object.keys(devices)
        .toSorted()
        .map((name) => (
          <PlaceCard
            {...common}
            key={name}
            title={`On ${makeVisible(name)}`}
            name={makeVisible(name)}
            isMachine
            place={devices[name]!}
            onChange={(place) => setDevice(name, place)}
            onRemove={() => setDevice(name, null)}
          />
        ))}
      {!isSystem && <AddMachine taken={Object.keys(devices)} onAdd={(name) => setDevice(name, machines)} />}
      <GeneralCard {...common} switches={switches} onChange={onChange} />
    </>
  );
}

type PlaceCardProps = {
  title: string;
  name: string;
  isMachine: boolean;
  place: PlaceSwitches;
  isUnattended: boolean;
  onChange: (place: PlaceSwitches) => void;
  onRemove?: () => void;
};

function PlaceCard({ title, name, isMachine, place, isUnattended, onChange, onRemove }: PlaceCardProps) {
  const risks = describeRisks(place, name, isMachine);
  return (
    <Card
      title={title}
      actions={
        onRemove !== undefined && (
          <Button look="quiet" aria-label={`Remove the rules for ${name}`} onClick={onRemove}>
            Remove
          </Button>
        )
      }
    >
      <ul class="switches">
        {(Object.keys(PLACE_WORDS) as PlaceKind[]).map((kind) => (
          <SwitchRow
            key={kind}
            title={PLACE_WORDS[kind].title}
            hint={isMachine ? PLACE_WORDS[kind].machine : PLACE_WORDS[kind].gateway}
            where={title}
            value={place[kind]}
            isUnattended={isUnattended}
            onValue={(action) => onChange({ ...place, [kind]: action })}
          />
        ))}
      </ul>
      <Risks risks={risks} />
    </Card>
  );
}

type GeneralCardProps = { switches: Switches; isUnattended: boolean; onChange: (switches: Switches) => void };

function GeneralCard({ switches, isUnattended, onChange }: GeneralCardProps) {
  return (
    <Card title="Everywhere">
      <ul class="switches">
        {(Object.keys(GENERAL_WORDS) as GeneralKind[]).map((kind) => (
          <SwitchRow
            key={kind}
            {...GENERAL_WORDS[kind]}
            where="Everywhere"
            value={switches[kind]}
            mayAllow={kind === "integrations" || kind === "agents"}
            isUnattended={isUnattended}
            onValue={(action) => onChange({ ...switches, [kind]: action })}
          />
        ))}
      </ul>
      <Risks risks={describeGeneralRisks(switches)} />
    </Card>
  );
}

type SwitchRowProps = {
  title: string;
  hint: string;
  where: string;
  value: Action;
  mayAllow?: boolean;
  isUnattended: boolean;
  onValue: (action: Action) => void;
};

function SwitchRow({ title, hint, where, value, mayAllow = true, isUnattended, onValue }: SwitchRowProps) {
  const options: Segment<Action>[] = [
    ...(mayAllow ? [{ value: "auto" as const, label: "Allow", tone: "good" as const }] : []),
    ...(isUnattended ? [] : [{ value: "ask" as const, label: "Ask" }]),
    { value: "deny", label: "Never", tone: "bad" },
  ];
  return (
    <li class="switch">
      <div class="switch-words">
        <span class="switch-title">{title}</span>
        <span class="soft small">{hint}</span>
      </div>
      <Segments
        legend={`${title}: ${where}`}
        isLegendHidden
        value={isUnattended && value === "ask" ? "deny" : value}
        options={options}
        onValue={onValue}
      />
    </li>
  );
}

function Risks({ risks }: { risks: readonly string[] }) {
  if (risks.length === 0) return null;
  return (
    <Banner tone="warn">
      {risks.map((risk) => (
        <p key={risk}>{risk}</p>
      ))}
    </Banner>
  );
}

function AddMachine({ taken, onAdd }: { taken: readonly string[]; onAdd: (name: string) => void }) {
  const devices = useLatest("sys.device.list", { includeOffline: true });
  const uid = session.value?.identity.process.uid;
  // The name must mean one machine for good: one's own, or one with its owner.
  const names = (devices.value.value?.devices ?? [])
    .filter(({ ownerUid, deviceId }) => (ownerUid === uid) !== deviceId.includes("@"))
    .map(({ deviceId }) => deviceId)
    .filter((name) => !taken.includes(name));
  if (names.length === 0) return null;
  return (
    <Select
      label="Other rules for one machine"
      hint="They count instead of those for other machines, for every machine that has this name later, too."
      value=""
      options={[{ value: "", label: "Choose a machine" }, ...names.map((name) => ({ value: name, label: makeVisible(name) }))]}
      onValue={(name) => name !== "" && onAdd(name)}
    />
  );
}
