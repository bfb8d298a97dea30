// A gallery of the components in web/src/ui in all their states, for developers and tests.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useActions } from "../frame/actions.ts";
import { showNotice } from "../state/notices.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Checkbox, Radio, Select } from "../ui/choice.tsx";
import { Code } from "../ui/code.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { TextInput } from "../ui/field.tsx";
import { Icon, ICONS } from "../ui/icon.tsx";
import { Menu } from "../ui/menu.tsx";
import { Progress } from "../ui/progress.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Table } from "../ui/table.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { Time } from "../ui/time.tsx";
import "./pieces.css";

const MINUTE = 60_000;
const now = Date.now();
const ROWS = [
  { name: "laptop", state: "good", files: 12_480, seen: now - 2_000 },
  { name: "workshop", state: "plain", files: 311, seen: now - 190 * MINUTE },
] as const;

export default function Pieces() {
  return (
    <div class="pieces">
      <Buttons />
      <Fields />
      <Choices />
      <States />
      <WaitingStates />
      <Data />
      <Overlays />
      <Card title="Icons">
        <div class="row">
          {ICONS.map((name) => (
            <span key={name} title={name} class="piece-icon">
              <Icon name={name} />
            </span>
          ))}
        </div>
      </Card>
    </div>
  );
}

function Buttons() {
  return (
    <Card title="Buttons" text="One on a page is primary." actions={<Button look="quiet">An action of the card</Button>}>
      <Row>
        <Button look="primary">Primary</Button>
        <Button>Plain</Button>
        <Button look="quiet">Quiet</Button>
        <Button look="danger">Danger</Button>
        <Button icon="plus">With icon</Button>
        <IconButton icon="refresh" label="Read again" />
      </Row>
      <Row>
        <Button look="primary" disabled>
          Primary
        </Button>
        <Button disabled>Plain</Button>
        <Button look="primary" busy>
          Busy
        </Button>
        <Button busy>Busy</Button>
        <IconButton icon="refresh" label="Read again, not now" disabled />
      </Row>
    </Card>
  );
}

function Fields() {
  const [text, setText] = useState("laptop");
  const [long, setLong] = useState("My everyday machine.\nIt has the tax papers.");
  return (
    <Card title="Fields">
      <TextInput label="Name" hint="Letters, digits and dashes." value={text} onValue={setText} />
      <TextInput label="With a mistake" error="There is a machine of that name already. Choose another." value={text} onValue={setText} />
      <TextInput label="Empty" placeholder="What is it for?" value="" onValue={setText} />
      <TextInput label="Not now" value={text} onValue={setText} disabled />
      <TextArea label="Description" value={long} onValue={setLong} />
    </Card>
  );
}

function Choices() {
  const [model, setModel] = useState<"demo" | "local" | "cloud">("demo");
  const [remember, setRemember] = useState(true);
  const options = [
    { value: "demo" as const, label: "Demo model", hint: "Needs no key. Understands a few phrases." },
    { value: "local" as const, label: "On this machine", hint: "A model server of your own." },
    { value: "cloud" as const, label: "A provider", hint: "Needs a key.", disabled: true },
  ];
  return (
    <Card title="Choices">
      <Select label="Model" hint="Used where nothing else is said." value={model} options={options} onValue={setModel} />
      <Radio legend="As a list" value={model} options={options} onValue={setModel} />
      <Radio legend="In boxes" value={model} options={options} onValue={setModel} boxes />
      <Checkbox label="Remember for an hour" hint="Only for this machine." checked={remember} onChecked={setRemember} />
      <Checkbox label="Not now" checked={false} onChecked={setRemember} disabled />
    </Card>
  );
}

function States() {
  return (
    <Card title="How things stand">
      <Row>
        <Badge>Plain</Badge>
        <Badge tone="accent">New</Badge>
        <Badge tone="good" dot>
          Online
        </Badge>
        <Badge tone="warn">Waiting</Badge>
        <Badge tone="bad">Failed</Badge>
      </Row>
      <Banner>Something to know.</Banner>
      <Banner tone="good">It is done.</Banner>
      <Banner tone="warn" actions={<Button>Look</Button>}>
        Something needs you soon.
      </Banner>
      <Banner tone="bad">It could not be done. Check the address and try again.</Banner>
      <EmptyState icon="machine" title="No machines yet" text="Connect one and it will be here.">
        <Button look="primary">Connect a machine</Button>
      </EmptyState>
    </Card>
  );
}

function WaitingStates() {
  return (
    <Card title="Waiting">
      <Spinner label="Connecting" />
      <Progress label="Copying photos.tar" value={0.62} words="62 %" />
      <Progress label="Looking for models" />
      <Skeleton label="Loading" />
    </Card>
  );
}

function Data() {
  const [tab, setTab] = useState<"table" | "code">("table");
  const tabs = [
    { value: "table" as const, title: "Table" },
    { value: "code" as const, title: "Code" },
  ];
  return (
    <Card title="Data">
      <Tabs label="Kinds of data" value={tab} tabs={tabs} onValue={setTab}>
        {tab === "table" ? (
          <Table
            caption="Machines"
            rows={ROWS}
            rowKey={({ name }) => name}
            columns={[
              { title: "Machine", cell: ({ name }) => <strong>{name}</strong> },
              {
                title: "State",
                cell: ({ state }) => (
                  <Badge tone={state} dot={state === "good"}>
                    {state === "good" ? "Online" : "Offline"}
                  </Badge>
                ),
              },
              { title: "Files", number: true, cell: ({ files }) => files.toLocaleString("en") },
              { title: "Last seen", cell: ({ seen }) => <Time at={seen} /> },
            ]}
          />
        ) : (
          <Code text="curl -fsSL https://gsv.example.com/downloads/cli/install.sh | sh -s -- --device laptop --user alice" />
        )}
      </Tabs>
      <QrCode text="https://gsv.example.com/machines/add" label="QR code that opens a page" />
    </Card>
  );
}

function Overlays() {
  const [isOpen, setOpen] = useState(false);
  useActions(() => [{ id: "pieces.dialog", title: "Open the dialog of the pieces", group: "Pieces", run: () => setOpen(true) }], []);
  return (
    <Card title="Over the page">
      <Row>
        <Button onClick={() => setOpen(true)}>Open a dialog</Button>
        <Button onClick={() => showNotice("Saved")}>A plain notice</Button>
        <Button onClick={() => showNotice("The machine is connected", "good")}>A good notice</Button>
        <Button onClick={() => showNotice("The name is taken: choose another", "bad")}>A bad notice</Button>
        <Menu
          label="What to do with laptop"
          items={[
            { title: "Describe", icon: "chat", run: () => showNotice("Described") },
            { title: "Not now", run: () => {}, disabled: true },
            { title: "Forget", icon: "close", danger: true, run: () => showNotice("Forgotten") },
          ]}
        />
      </Row>
      {isOpen && (
        <Dialog
          title="Forget laptop?"
          onClose={() => setOpen(false)}
          actions={
            <>
              <Button onClick={() => setOpen(false)}>Keep it</Button>
              <Button look="danger" onClick={() => setOpen(false)}>
                Forget it
              </Button>
            </>
          }
        >
          <p>Its token ends at once and the machine is disconnected. Files on it stay as they are.</p>
        </Dialog>
      )}
    </Card>
  );
}

function Row({ children }: { children: ComponentChildren }) {
  return <div class="row">{children}</div>;
}
