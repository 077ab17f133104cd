/** The library: what the `media` program does, for programs of your own. */
export type {
  EmbeddedService,
  KeyOptions,
  RequestEntry,
  ServiceOptions,
} from './embedded/service.ts';
export type {Body, HttpResponse, Wire} from './engine/http/http.ts';
export type {GraphqlRequest} from './engine/service/client.ts';
export {
  type ErrorRecord,
  type MediaRecord,
  type MediaUrl,
  publicUrl,
  type ReceivedRecord,
} from './engine/service/record.ts';
export type {
  Refused,
  Stored,
  Unreadable,
  Uploader,
  UploadRequest,
  UploadResponse,
} from './engine/service/uploader.ts';
export type {OpenSource, Source} from './engine/sources/open/source.ts';
export type {TransferObserver} from './engine/transfer/batch.ts';
export type {OutcomeFacts, UploadResult} from './engine/transfer/outcome.ts';
export {type ErrorCode, errorCodes} from './errors.ts';
export type {Clock} from './host.ts';
export type {FilePath} from './lib/files/typed-path.ts';
export {LibraryError as MediaError} from './library/library-face.ts';
export {MediaClient, type MediaClientOptions, startService} from './library/media-client.ts';
export {
  type BlobContent,
  type FilesOptions,
  filesOf,
  sourceOf,
  type UploadInput,
  type WebStream,
} from './library/sources.ts';
export {type UploadOptions, uploadAll} from './library/upload-all.ts';
export {type OneUploadOptions, type OneUploadResult, upload} from './library/upload-one.ts';
export type {TypeRule} from './media/type/decide.ts';
