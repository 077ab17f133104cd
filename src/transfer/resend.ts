import type {Resend} from '../journal/journal.ts';
import type {TransferOptions} from './options.ts';

/** Services may forget idempotency keys without notice. Those that document it keep them for at least a day. */
const keyLifeMs = 12 * 3_600_000;

/** Which unknown uploads may be sent again now. */
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
