import type {TransferOptions} from '../../../transfer/batch.ts';
import type {UploadFlags} from './flags.ts';

/** What --verify asks of the transfer; pictures are measured only then. */
export function verification({verify}: UploadFlags): Pick<TransferOptions, 'verify'> {
  if (verify === undefined) return {};
  return {
    verify: {
      mode: verify,
      async dimensions(opened) {
        const {pictureDimensions} = await import('../../../sources/media-type/dimensions.ts');
        return pictureDimensions(opened);
      },
    },
  };
}
