import type {Resend} from '../journal/journal.ts';
import type {TransferOptions} from './options.ts';

/** Services forget idempotency keys without saying when. Those that do say keep them for a day at least. */
const keyLifeMs = 12 * 3_600_000;

/** Which uploads of unknown outcome may be sent again now. */
export function resendOf({onUnknown, clock}: Pick<TransferOptions, 'onUnknown' | 'clock'>): Resend {
  switch (onUnknown) {
    case 'hold':
      return {releasedSince: Number.POSITIVE_INFINITY};
    case 'retry':
      return {releasedSince: Number.NEGATIVE_INFINITY};
    case 'honoured':
      return {releasedSince: clock.now() - keyLifeMs};
  }
}
