import type {Command} from 'commander';
import {MediaError} from '../errors.ts';

/**
 * Refuses empty arguments and empty option values: `media upload -r "$photos"` must not upload the working directory if the
 * variable is not set.
 */
export function refuseEmptyValues(command: Command): void {
  if (command.args.includes('')) throw isEmpty('An argument');
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const value: unknown = at.getOptionValue(option.attributeName());
      if (value === '' || (Array.isArray(value) && value.includes('')))
        throw isEmpty(`The value of ${option.long ?? option.short}`);
    }
  }
}

function isEmpty(what: string): MediaError {
  return new MediaError('usage', `${what} is empty.`, {
    hint: 'If it comes from a variable, that variable is not set.',
  });
}
