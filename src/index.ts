/** The library: the engine, the client and the embedded service that the `media` program is made of. */
export {type EmbeddedService, type ServiceOptions, startService} from './embedded/service.ts';
export {type ErrorCode, MediaError} from './errors.ts';
export {type Clock, systemClock} from './host.ts';
export {Secret} from './secret.ts';
export {type GraphqlRequest, MediaClient, type ServiceAddress} from './service/client.ts';
export {
  type ErrorRecord,
  type MediaRecord,
  type MediaUrl,
  publicUrl,
  type ReceivedRecord,
} from './service/record.ts';
export {decideContentType, type TypeDecision, type TypeRule} from './sources/content-type.ts';
export {fileSource} from './sources/file.ts';
export type {OpenSource, Source} from './sources/source.ts';
export type {Outcome} from './transfer/outcome.ts';
export {type TransferObserver, type TransferOptions, uploadAll} from './transfer/transfer.ts';
export type {UploadAnswer, Uploader, UploadRequest} from './transfer/uploader.ts';
