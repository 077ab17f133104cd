/** The only entry to this folder: other folders open, read and check journals through it. */
export type {JournalEntry} from './entry.ts';
export {journalCodes} from './file/errors.ts';
export {type PathKey, pathFields, pathKey, type Scope} from './file/lines.ts';
export {idIn} from './file/parse.ts';
export {refuseOtherStore} from './file/scope.ts';
export type {Entry} from './known/journal-index.ts';
export {openJournal, openSharedJournal} from './open.ts';
export {type JournalInput, JournalMemory, type Known, type Resend} from './reading/memory.ts';
export {writeMerged} from './reading/merge.ts';
export {type ContentHash, entryReason, JournalSet, type Verdict} from './reading/proof.ts';
export {readMemory} from './reading/read-memory.ts';
export {closeAll, type JournalReader, readJournals} from './reading/reader.ts';
export type {Journal} from './run-journal.ts';
export type {RunJournal} from './shared.ts';
