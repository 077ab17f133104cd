import {MediaError} from '../errors.ts';

/** Throws a MediaError `usage` for an option whose name is not among `names` (separated by spaces). */
export function refuseUnknown(options: object, names: string): void {
  const unknown = Object.keys(options ?? {}).find(name => !names.split(' ').includes(name));
  if (unknown === undefined) return;
  throw new MediaError('usage', `There is no option "${unknown}".`, {hint: `The options: ${names}.`});
}

/** Throws a MediaError `usage` for what is not a list of any kind; a text and bytes count as one item, not as a list. */
export function refuseSingle(list: unknown): void {
  const isObject = typeof list === 'object' && list !== null && !ArrayBuffer.isView(list);
  if (isObject && (Symbol.iterator in list || Symbol.asyncIterator in list)) return;
  const hint = "Put a single one into an array: ['photo.png'].";
  throw new MediaError('usage', `Files are given as an array or another iterable, not as ${kindOf(list)}.`, {
    hint,
  });
}

/** Throws a MediaError `usage` for a value that is given and not among those allowed. */
export function refuseOthers(name: string, value: unknown, allowed: readonly unknown[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new MediaError('usage', `${name} must be ${allowed.join(' or ')}, not ${kindOf(value)}.`);
}

/** A value as a message shows it, in few characters. */
export function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)?.slice(0, 60) ?? typeof value;
  return `an object (${value.constructor?.name ?? 'without a prototype'})`;
}
