// A QR code of a text, for the camera of a phone. The encoder is loaded when the first code is shown. The code is dark on light in
// both themes, because many cameras read no other.

import { useEffect, useState } from "preact/hooks";
import "./qr-code.css";

/** The quiet zone that readers need around a code, in modules. */
const MARGIN = 4;

type QrCodeState = { size: number; path: string };

/** `label` says what scanning it does: "QR code that opens this page". */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [code, setCode] = useState<QrCodeState | "failed" | null>(null);
  useEffect(() => {
    let isMounted = true;
    setCode(null);
    encodeText(text).then(
      (encoded) => isMounted && setCode(encoded),
      () => isMounted && setCode("failed"),
    );
    return () => {
      isMounted = false;
    };
  }, [text]);
  if (code === "failed") return <p class="soft">The QR code could not be drawn. Copy the text instead.</p>;
  const side = (code?.size ?? 0) + 2 * MARGIN;
  return (
    <svg class="qr-code" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={label} shape-rendering="crispEdges">
      {code !== null && <path d={code.path} />}
    </svg>
  );
}

async function encodeText(text: string): Promise<QrCodeState> {
  const { encode } = await import("uqr");
  const { data, size } = encode(text, { ecc: "L", border: 0 });
  return { size, path: data.map(toRowPath).join("") };
}

/** The dark modules of a row, as one rectangle for each run of them. */
function toRowPath(row: readonly boolean[], y: number): string {
  let path = "";
  for (let x = 0; x < row.length; x++) {
    const start = x;
    while (row[x] === true) x++;
    if (x > start) path += `M${start + MARGIN} ${y + MARGIN}h${x - start}v1h-${x - start}z`;
  }
  return path;
}
