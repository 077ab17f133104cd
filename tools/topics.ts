import {Help} from 'commander';
import type {HelpTopic} from '../src/cli/commands/help-topics.ts';
import type {CompletionData} from './command-tree.ts';
import {environment, errorCodes, exitStatuses, formats, type Row, settingsOf} from './reference.ts';

/** A section of the manual page, which `media help TOPIC` prints, too. */
export interface Topic {
  heading: string;
  before: readonly string[];
  /** Terms with their meanings. */
  terms: readonly (readonly [string, string])[];
  after: readonly string[];
}

/** Every topic, in the order of the manual page. */
export const topicsOf = (data: CompletionData): Record<HelpTopic, Topic> => ({
  'exit-codes': {
    heading: 'EXIT STATUS',
    before: [],
    terms: firstTwo(exitStatuses),
    after: ['Where several apply: the signal, 7, 5, 4, 3, 6, 1.'],
  },
  errors: {
    heading: 'ERROR CODES',
    before: ['The values of error.code in the output of --json and --ndjson, each with its exit status.'],
    terms: errorCodes.map(([name, status = '', meaning = '']) => [`${name} (${status})`, meaning]),
    after: [],
  },
  settings: {
    heading: 'SETTINGS',
    before: [
      'An option overrides a variable, a variable overrides the profile, and the profile overrides the default.',
      'To store a setting: media config set NAME VALUE',
    ],
    terms: settingsOf(data).map(([name, flag = '', variable = '', meaning = '']) => [
      name,
      withOthers(meaning, [flag, variable]),
    ]),
    after: [],
  },
  environment: {heading: 'ENVIRONMENT', before: [], terms: firstTwo(environment), after: []},
  formats: {
    heading: 'OUTPUT FORMATS',
    before: ['Standard output contains results and nothing else.'],
    terms: [
      ...firstTwo(formats),
      ['--template TEXT', 'the text for each uploaded file, with values for {file}, {url}, {id} and others'],
    ],
    after: ['All but tables and --ndjson print only what was uploaded, in the order of the inputs.'],
  },
  patterns: {
    heading: 'PATTERNS',
    before: [
      'An input with one of these, and the value of --exclude, is a pattern. Quote it, so that the shell does not expand it.',
      'A pattern matches images and videos only; a file that you name yourself is always tried.',
    ],
    terms: [
      ['*', 'any part of a name, but no slash; hidden files only where the pattern begins with a dot'],
      ['**', 'any number of directories'],
      ['?', 'one character'],
      ['[a-z]', 'one of these characters'],
      ['{png,jpg}', 'one of these words'],
    ],
    after: [
      'The pattern of --exclude is matched against the name of a file, or with a slash against its path below the ' +
        'directory. drafts/ means the directories of that name with everything in them.',
      'A file whose name has such characters is taken as it is: if there is a file with that name, it is not a pattern.',
    ],
  },
  journal: {
    heading: 'JOURNALS',
    before: [
      'With --journal FILE, media records what it sends. If the run stops for any reason, the same command continues it: ' +
        'what was uploaded is skipped, and its record printed again. A file is recognised by its content, not its name.',
      'With --once, media uses the journal of this machine, so that it uploads nothing twice.',
    ],
    terms: [
      ['media journal list FILE', 'prints the result of each input'],
      ['media journal check FILE -- INPUT', 'checks that each input is recorded exactly once'],
      ['media journal resolve FILE PATH --uploaded ID', 'if an unknown upload is stored'],
      ['media journal resolve FILE PATH --resend', 'if it is not: the next run sends it again'],
    ],
    after: [
      'An upload is unknown if the whole file was sent and no clear response came. It is not sent again until it is settled.',
      'Only one run at a time can use a journal, and each journal belongs to one service.',
    ],
  },
});

/** A topic as text of 80 columns. */
export function topicText({before, terms, after}: Topic): string {
  const help = new Help();
  help.prepareContext({helpWidth: 80});
  const paragraphs = (texts: readonly string[]) => texts.map(text => `${help.boxWrap(text, 80)}\n`);
  const shown = terms.map(([name, meaning]) => [plain(name), plain(meaning)] as const);
  const width = Math.max(...shown.map(([name]) => name.length).filter(length => length <= widestTerm));
  const list = shown.map(([name, meaning]) =>
    name.length <= widestTerm
      ? `${help.formatItem(name, width, meaning, help)}\n`
      : `  ${name}\n${help.formatItem('', width, meaning, help)}\n`,
  );
  return [...paragraphs(before), list.join(''), ...paragraphs(after)].join('\n');
}

/** The meaning of a longer term is below it. */
const widestTerm = 26;

/** The meaning, followed by the other sources of the setting unless the meaning already names them. */
function withOthers(meaning: string, others: readonly string[]): string {
  const given = others.filter(other => other !== '' && !meaning.includes(plain(other)));
  return given.length === 0 ? meaning : `${meaning} (${given.join(', ')})`;
}

function firstTwo(rows: readonly Row[]): [string, string][] {
  return rows.map(([name, meaning = '']) => [name, meaning]);
}

/** Markdown without the marks of code. */
export function plain(markdown: string): string {
  return markdown.replaceAll('`', '');
}
