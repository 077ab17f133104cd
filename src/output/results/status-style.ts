import type {Style} from '../terminal.ts';

const styles: Record<string, Style> = {
  uploaded: 'green',
  failed: 'red',
  unknown: 'magenta',
  mismatched: 'magenta',
};

/** The colour of a status; none for what neither went well nor wrong in this run. */
export function statusStyle(status: string): Style | undefined {
  return styles[status];
}
