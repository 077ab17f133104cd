import {renderUnicodeCompact} from 'uqr';
import {cellsOf} from '../cells.ts';

const black = '\u001b[97;40m';
const reset = '\u001b[0m';

/** A QR code in half blocks, for dark terminals; white on black if colour is allowed. */
export function qrCode(text: string, {width, color}: {width: number; color: boolean}): string | undefined {
  const lines = renderUnicodeCompact(text, {border: 2}).split('\n');
  if (Math.max(...lines.map(cellsOf)) > width) return undefined;
  return lines.map(line => `${color ? `${black}${line}${reset}` : line}\n`).join('');
}
