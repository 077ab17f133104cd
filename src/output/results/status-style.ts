import {own} from '../../lib/own.ts';
import type {Style} from '../terminal.ts';

const styles: Record<string, Style> = {
  uploaded: 'green',
  failed: 'red',
  unknown: 'magenta',
  mismatched: 'magenta',
};

/** The colour of a status; none for a status that is neither a success nor a failure of this run. */
export function statusStyle(status: string): Style | undefined {
  return own(styles, status);
}
