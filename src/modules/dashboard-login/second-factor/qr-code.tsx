import type { VNode } from 'preact';
import { encode } from 'uqr';

/** Modules around it without which cameras do not find it (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** A QR code without a script and without an image from anywhere: one path of black squares. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const { data, size } = encode(text, { border: QUIET_ZONE });
  const squares = data.flatMap((row, y) => row.map((isBlack, x) => (isBlack ? `M${x} ${y}h1v1h-1z` : '')));
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <path d={squares.join('')} />
    </svg>
  );
}
