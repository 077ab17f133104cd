/** The door of what is remembered: whoever opens, reads or proves a journal comes in here. */
export type {JournalEntry} from './entry.ts';
export {journalCodes} from './errors.ts';
export type {Entry} from './index.ts';
export {type PathKey, pathFields, pathKey} from './lines.ts';
export {type JournalInput, JournalMemory, type Known} from './memory.ts';
export {writeMerged} from './merge.ts';
export {openJournal} from './open.ts';
export {idIn} from './parse.ts';
export {type ContentHash, entryReason, JournalSet, type Verdict} from './proof.ts';
export {readMemory} from './read-memory.ts';
export {closeAll, type JournalReader, readJournals} from './reader.ts';
export type {Journal} from './run-journal.ts';
