import {dirname, relative, resolve} from 'node:path';
import {Disk} from '../engine/sources/open/disk.ts';
import {checkedSourceAt} from '../engine/sources/open/file-source.ts';
import type {Source} from '../engine/sources/open/source.ts';
import {MediaError, unlessBug} from '../errors.ts';
import {hint, option} from '../hint.ts';
import {contentHash} from '../lib/files/content-hash.ts';
import {inodeOf, systemFiles} from '../lib/files/file-system.ts';
import {isBelow, resolveUserPath} from '../lib/files/typed-path.ts';
import {memoize} from '../lib/object.ts';
import {decideSourceType, isNamedMedia} from '../media/type/decide.ts';
import {decodeDocument, placesIn} from './document-text.ts';
import {type DocumentFile, readDocument} from './documents.ts';
import {Locator, type ProjectFile, type RewritePlaces} from './locate.ts';
import {type DocumentKind, type Reference, type ScanOptions, withoutQuery} from './scan/reference.ts';
import type {ScanResult} from './scan/scan.ts';
import {Scanner} from './scanner.ts';

/** A local reference in a document. */
export interface FoundReference extends Reference {
  /** The name of the document that it is in. */
  document: string;
  line: number;
  column: number;
  /** The file that it names, as shown in messages; undefined if it cannot be uploaded. */
  file?: string;
  /** Why it cannot be uploaded. */
  problem?: MediaError;
}

/** A document, and what it refers to. */
export interface DocumentPlan extends DocumentFile, ScanResult {
  references: FoundReference[];
  /** The bytes that they are in; absent if there are none. */
  read?: Buffer;
  /** The files beside or above it that tell how it is read. */
  projectFiles: readonly ProjectFile[];
}

/** What a run is going to upload, and where the URLs go. */
export interface RewritePlan {
  documents: DocumentPlan[];
  /** The names of documents that could not be read, or not their front matter, and why. */
  failed: {name: string; error: MediaError}[];
  /** The files to upload, each once. */
  files: string[];
  /** Opens a file that was checked; rejects if it is another one by then. */
  source: (name: string) => Source;
  /** For files with the content of another one, the name of that one. */
  sameAs: ReadonlyMap<string, string>;
}

export interface PlanOptions {
  places: RewritePlaces;
  scan: ScanOptions;
  cwd: string;
  /** Whether to look for files with equal content; otherwise a journal does. */
  comparesContent: boolean;
}

/** Reads the documents, finds what they refer to, and checks each file; nothing is sent or written. */
export async function planRewrite(
  documents: AsyncIterable<DocumentFile> | Iterable<DocumentFile>,
  options: PlanOptions,
): Promise<RewritePlan> {
  const planner = new Planner(options);
  const plans: DocumentPlan[] = [];
  const failed: RewritePlan['failed'] = [];
  try {
    for await (const document of documents) {
      try {
        const plan = await planner.plan(document);
        plans.push(plan);
        if (plan.badFrontMatter !== undefined) failed.push({name: plan.name, error: badFrontMatter(plan)});
      } catch (error) {
        failed.push({name: document.name, error: unlessBug(error)});
      }
    }
  } finally {
    await planner.scanner.end();
  }
  const sameAs = options.comparesContent ? await planner.equalFiles() : new Map<string, string>();
  const files = planner.files.filter(file => !sameAs.has(file));
  return {documents: plans, failed, files, source: planner.source, sameAs};
}

/** The error for a document whose front matter is not valid. The document is rewritten without it. */
function badFrontMatter({name, badFrontMatter: reason}: DocumentPlan): MediaError {
  const sentence = `The front matter of ${name} could not be read, since it is ${reason}.`;
  const advice = hint`Correct it, or leave out ${option('frontMatter')}.`;
  return new MediaError('file_unreadable', sentence, {hint: advice});
}

/** How Markdown is read beside these files: those of MkDocs count before a vault of Obsidian. */
function dialectOf(projectFiles: readonly ProjectFile[]): DocumentKind {
  if (projectFiles.some(file => file.startsWith('mkdocs'))) return 'mkdocs';
  return projectFiles.includes('.obsidian') ? 'obsidian' : 'markdown';
}

/** What is left of a plan without the documents that refer to something that cannot be uploaded. */
export function withoutProblems(plan: RewritePlan): RewritePlan {
  const documents = plan.documents.filter(({references}) => references.every(({problem}) => !problem));
  const files = documents.flatMap(({references}) => references.map(({file = ''}) => file));
  const uniqueFiles = new Set(files.map(file => plan.sameAs.get(file) ?? file));
  return {...plan, documents, files: plan.files.filter(file => uniqueFiles.has(file))};
}

/** A file with its size, or with the reason why it cannot be uploaded. */
type CheckedFile = {name: string; size: number; problem?: MediaError};

class Planner {
  readonly #options: PlanOptions;
  readonly #locator: Locator;
  readonly source: RewritePlan['source'];
  readonly scanner = new Scanner();
  /** By real path. */
  readonly #checked = new Map<string, CheckedFile>();

  constructor(options: PlanOptions) {
    this.#options = options;
    this.#locator = new Locator(options.places);
    const disk = new Disk(systemFiles);
    this.source = memoize(name => checkedSourceAt(disk, name, resolveUserPath(options.cwd, name)));
  }

  /** The names of the files that can be uploaded. */
  get files(): string[] {
    return [...this.#checked.values()].filter(({problem}) => problem === undefined).map(({name}) => name);
  }

  /** Finds the references of a document, and checks their files; rejects if it cannot be rewritten. */
  async plan(document: DocumentFile): Promise<DocumentPlan> {
    const {name} = document;
    const projectFiles = this.#locator.projectFilesOf(dirname(document.path));
    const kind = document.kind === 'markdown' ? dialectOf(projectFiles) : document.kind;
    const bytes = await readDocument(document);
    const {text} = decodeDocument(bytes, name);
    const placeOf = placesIn(text);
    const references: FoundReference[] = [];
    const scan = await this.scanner.scan(name, {kind, text, options: this.#options.scan});
    for (const reference of scan.references) {
      if (reference.onlyMedia && !(await isNamedMedia(withoutQuery(reference.target)))) continue;
      const place = {...placeOf(reference.start), document: name};
      references.push(await this.#place({...reference, ...place}, document));
    }
    return {...document, ...scan, references, projectFiles, ...(references.length > 0 && {read: bytes})};
  }

  /** The reference with the file that it names, or with the problem why it cannot be uploaded. */
  async #place(reference: FoundReference, document: DocumentFile): Promise<FoundReference> {
    const {target, context} = reference;
    const place = await this.#locator.locate(target, context === 'wiki', dirname(document.path));
    if (place === undefined) return {...reference, problem: await this.#missingError(reference, document)};
    if (place === 'outside') {
      const problem = new MediaError('outside_root', `${reference.source} is outside the root directory.`, {
        hint: hint`Set the directory that files may be read from with ${option('root')}.`,
      });
      return {...reference, problem};
    }
    if ('candidates' in place) {
      const names = place.candidates.map(path => relative(this.#options.cwd, path)).sort();
      const sentence = `${reference.source} may be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`;
      const problem = new MediaError('file_missing', sentence, {hint: 'Write more of its path.'});
      return {...reference, problem};
    }
    const {name, problem} = await this.#check(place.path);
    return problem === undefined ? {...reference, file: name} : {...reference, problem};
  }

  /** The error for a file that is not there; its hint offers `--static` if that would find the file. */
  async #missingError({source, target}: FoundReference, {name, path}: DocumentFile): Promise<MediaError> {
    const beside = dirname(resolve(path));
    if (beside.includes('\ufffd') && (await inodeOf(beside, 'directory', systemFiles)) === undefined) {
      const reason = `the path of the directory of ${name} is not UTF-8`;
      return new MediaError('file_unreadable', `${source} cannot be looked for, since ${reason}.`, {
        hint: 'Rename that directory, or the one above it that has such a name.',
      });
    }
    const directory = await this.#locator.staticDirectoryFor(target, dirname(path));
    const sentence = `${source} does not exist.`;
    if (directory === undefined) return new MediaError('file_missing', sentence);
    const root = relative(this.#options.cwd, directory) || '.';
    return new MediaError('file_missing', sentence, {
      hint: hint`Add this option to find it: ${option('static', root)}`,
    });
  }

  /** Opens the file at a real path once and decides its type, as an upload would. `name`: as messages show the file. */
  async #check(path: string): Promise<CheckedFile> {
    const earlier = this.#checked.get(path);
    if (earlier !== undefined) return earlier;
    const {cwd} = this.#options;
    const file: CheckedFile = {name: cwd !== '.' && isBelow(path, cwd) ? relative(cwd, path) : path, size: 0};
    try {
      const source = this.source(file.name);
      const opened = await source.open(new AbortController().signal);
      await decideSourceType(source, opened, {types: 'extension'}).finally(() => opened.close(true));
      file.size = opened.size;
    } catch (error) {
      // Without its hint, which is about options of media upload.
      const {code, message, cause} = unlessBug(error);
      file.problem = new MediaError(code, message, {cause});
    }
    this.#checked.set(path, file);
    return file;
  }

  /** Maps a file with the content of an earlier file to the earlier name; rejects if a file is unreadable. */
  async equalFiles(): Promise<Map<string, string>> {
    const bySize = new Map<number, string[]>();
    for (const {name, size, problem} of this.#checked.values())
      if (problem === undefined) bySize.set(size, [...(bySize.get(size) ?? []), name]);
    const sameAs = new Map<string, string>();
    for (const names of bySize.values()) {
      const first = new Map<string, string>();
      for (const name of names.length > 1 ? names : []) {
        const opened = await this.source(name).open(new AbortController().signal);
        const content = await contentHash(opened).finally(() => opened.close(true));
        const earlier = first.get(content);
        if (earlier === undefined) first.set(content, name);
        else sameAs.set(name, earlier);
      }
    }
    return sameAs;
  }
}
