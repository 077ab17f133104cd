import {own} from './lib/object.ts';
import {shellQuoted, shellWord} from './lib/shell.ts';

type Bare<Key extends string> = {[Name in Key]: []};

/** What hints refer to, with its values. Each face (the command line, the library) has its own words for it. */
export type References = {
  option: Bare<
    | ('allowHttp' | 'certificateAuthorities' | 'concurrency' | 'filesFrom' | 'frontMatter' | 'journal')
    | ('manifest' | 'name' | 'noOnce' | 'once' | 'outDir' | 'output' | 'profile' | 'recursive' | 'retries')
    | ('retryMaxWait' | 'root' | 'timeout')
  > & {
    baseUrl: [url: string, allowHttp: boolean];
    contentType: [type?: string];
    shard: [value?: string];
    static: [directory: string];
    types: [rule: 'content' | 'strict'];
  };
  /** Things to do; those that end a hint bring their punctuation. */
  command: Bare<'mergeJournals' | 'renewKey' | 'uploadStdin' | 'uploadWithJournal' | 'uploadWithoutOnce'> & {
    /** To send a file that may be stored again; `isLast`: whether the hint ends with it. */
    sendAgain: [how: 'next run' | 'option' | 'single', isLast: boolean];
    sendFewer: [count: number];
    /** To record that a file is stored, on a condition. */
    settle: [condition: string, journal: string, idempotencyKey: string];
    upload: [file: string];
    uploadDirectory: [directory: string];
    uploadStream: [from: 'FIFO' | 'DEVICE'];
    waitLonger: [seconds: number];
  };
  setting: Bare<'baseUrl' | 'clientCert' | 'embedded'>;
  variable: Bare<'clientCert'>;
  /** What is so for one failure, and left out or rewritten where several are reported, or where a message is kept. */
  fact: {
    mediaId: [id: string | null | undefined];
    /** The file at the beginning of a message, with a verb if the rest fits several files, too. */
    subject: [name: string, verb?: keyof typeof plurals];
    /** The file elsewhere in a message. */
    file: [name: string];
    /** Words of a page, which may hold the id of a request. */
    page: [words: string];
    tries: [attempts: number, most: number];
  };
};

type Kind = keyof References;
type Values<Of extends Kind, Key extends keyof References[Of]> = Extract<References[Of][Key], unknown[]>;

interface Reference<Of extends Kind = Kind> {
  kind: Of;
  key: string;
  values: readonly unknown[];
}

/** Words and references. An inner template is a clause, left out if a face has no words for a reference in it. */
export type HintParts = readonly (string | Reference | HintParts)[];

type MessageParts = readonly (string | Reference<'fact'> | MessageParts)[];

/** What happened: text, or a template that refers to facts only. */
export type Message = string | MessageParts;

/** What to do next: text, or a template of it that a face has not written yet. */
export type Hint = string | HintParts;

type Words<From extends unknown[]> = string | undefined | ((...values: From) => string | undefined);

/** How a face writes each reference; undefined if it has nothing like it. */
export type Face = {
  readonly [Of in Kind]: {readonly [Key in keyof References[Of]]: Words<Values<Of, Key>>};
};

/** How facts are written in the report of a single failure. */
export const facts: Face['fact'] = {
  mediaId: id => id ?? undefined,
  subject: (name, verb) => (verb === undefined ? name : `${name} ${verb}`),
  file: name => name,
  page: words => words,
  tries: (attempts, most) => ` (Attempt ${attempts} of ${most}.)`,
};

/** What every face writes alike, since only the program and the service have it. */
export const commonCommands = {
  mergeJournals: 'media journal merge',
  renewKey: 'Copy the key again from the profile page of the service.',
  settle: (condition, journal, key) =>
    `${condition}: media journal resolve ${shellQuoted(journal)} ${shellWord(key)} --uploaded ID`,
} satisfies Partial<Face['command']>;

/** The verbs that follow a subject, with what they are where several files are reported together. */
export const plurals = {does: 'do', is: 'are', was: 'were', could: 'could'};

/** Makes a template literal a list of its words and references, which each face writes in its own way. */
function template<Part>(words: TemplateStringsArray, ...parts: Part[]): (string | Part)[] {
  return words.flatMap((text, at) => [text, parts[at] ?? '']);
}

/** A template literal as a hint. */
export const hint: (words: TemplateStringsArray, ...parts: HintParts) => HintParts = template;

/** A template literal as a message, which may refer to facts only. */
export const phrase: (words: TemplateStringsArray, ...parts: MessageParts) => MessageParts = template;

/** Makes the function that refers to things of one kind: `option('journal')` is a part of a hint. */
const referTo =
  <Of extends Kind>(kind: Of) =>
  <Key extends keyof References[Of] & string>(key: Key, ...values: Values<Of, Key>): Reference<Of> => ({
    kind,
    key,
    values,
  });

export const option = referTo('option');
export const command = referTo('command');
export const setting = referTo('setting');
export const variable = referTo('variable');
export const fact = referTo('fact');

/** The hint in the words of a face; undefined if the face has no words for one of its references. */
export function hintText(hint: Hint, face: Face): string | undefined {
  if (typeof hint === 'string') return hint;
  const words = hint.map(part => {
    if (typeof part === 'string') return part;
    if (!('kind' in part)) return hintText(part, face) ?? '';
    const written = own(face[part.kind] as Record<string, Words<unknown[]>>, part.key);
    return typeof written === 'function' ? written(...part.values) : written;
  });
  return words.includes(undefined) ? undefined : words.join('');
}
