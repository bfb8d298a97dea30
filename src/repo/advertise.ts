// The ref advertisement: a git server's first answer, which lists its refs and capabilities.

import { FLUSH, pkt } from "./pkt-line.ts";
import { ZERO_OID } from "./oid.ts";
import type { Store } from "./store.ts";
import { concat } from "../lib/bytes.ts";

export type Service = "git-upload-pack" | "git-receive-pack";

const AGENT = "agent=gsv";

const CAPABILITIES: Record<Service, readonly string[]> = {
  "git-upload-pack": [
    "multi_ack",
    "multi_ack_detailed",
    "no-done",
    "side-band",
    "side-band-64k",
    "ofs-delta",
    "shallow",
    "deepen-relative",
    "no-progress",
    "include-tag",
  ],
  "git-receive-pack": ["report-status", "delete-refs", "side-band-64k", "quiet", "atomic", "ofs-delta"],
};

/** Protocol versions 0 and 1 differ in one line. */
export function advertise(store: Store, service: Service, version: 0 | 1): Uint8Array {
  const lines = [pkt(`# service=${service}\n`), FLUSH];
  if (version === 1) lines.push(pkt("version 1\n"));
  const capabilities = [...CAPABILITIES[service]];
  const refs: { name: string; oid: string }[] = [];
  const head = store.refs.head();
  const headOid = store.refs.get(head);
  if (service === "git-upload-pack" && headOid !== undefined) {
    refs.push({ name: "HEAD", oid: headOid });
    capabilities.push(`symref=HEAD:${head}`);
  }
  for (const ref of store.refs.list()) {
    refs.push(ref);
    if (service !== "git-upload-pack" || store.objects.kind(ref.oid) !== "tag") continue;
    const peeled = store.refs.peel(ref.oid);
    if (peeled !== undefined) refs.push({ name: `${ref.name}^{}`, oid: peeled.oid });
  }
  if (refs.length === 0) refs.push({ name: "capabilities^{}", oid: ZERO_OID });
  const tail = `\0${[...capabilities, "object-format=sha1", AGENT].join(" ")}`;
  for (const [i, { name, oid }] of refs.entries()) lines.push(pkt(`${oid} ${name}${i === 0 ? tail : ""}\n`));
  return concat([...lines, FLUSH]);
}
