/** The only entry to this folder: other folders open, read and check journals through it. */
export type {UploadLog} from './entry.ts';
export {type Content, contentKey} from './journal-identity.ts';
export type {IndexRow} from './journal-index.ts';
export {
  type InputVariant,
  JournalLookup,
  type JournalManifest,
  type PriorUpload,
  readLookup,
} from './journal-memory.ts';
export {
  type PathKey,
  pathFields,
  pathKey,
  type Scope,
  type Seed,
  seedWriter,
  type UploadLine,
} from './line.ts';
export {writeMergedJournal} from './merge.ts';
export {type JournalOptions, openJournal} from './open.ts';
export {entryReason, JournalSet, type Verdict} from './proof.ts';
export {type JournalReader, readJournal, readJournals} from './reader.ts';
export type {Journal} from './run-journal.ts';
export {commonScope, requireSameService} from './scope.ts';
