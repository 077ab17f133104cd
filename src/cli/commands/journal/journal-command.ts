import {MediaError} from '../../../errors.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {shellQuoted} from '../../../lib/shell.ts';
import type {CliCommand, Invocation} from '../../session/invocation.ts';
import {parseUrl, selectionOptions, typesOption} from '../../session/values.ts';
import type {ProofFlags} from './check.ts';
import type {ResolveOptions} from './settle.ts';

export function journalCommand(journal: CliCommand): void {
  journal
    .description('List, check, merge and repair the journals of uploads.')
    .examples([
      'media journal list assets.journal',
      'media journal check assets.journal -- ./assets',
      'media journal merge -o all.journal part-*.journal',
      'media journal resolve assets.journal photos/cat.png --resend',
    ]);
  journal
    .command('list [file...]')
    .description('Print the result of each input; without a file, of everything that --once remembers.')
    .option('--json', 'print one JSON object per line')
    .option('--template <text>', 'print this text for each uploaded file, such as "{file}\\t{url}\\n"')
    .examples([
      'media journal list assets.journal',
      'media journal list --json *.journal',
      "media journal list --template '{file}\\t{url}\\n'",
    ])
    .exclusive('--json', '--template')
    .runs(async (options: {json?: boolean; template?: string}, invocation, files: string[]) => {
      const {listJournals} = await import('./list.ts');
      return listJournals({files, ...options}, invocation);
    });
  journal
    .command('check <file...>')
    .usage('[options] <file...> -- <input...>')
    .description(
      'Check that the journals record each input after -- exactly once; otherwise the exit status is 1.',
    )
    .addOptions([...selectionOptions(), typesOption()])
    .option('--json', 'print one JSON object per line')
    .examples([
      'media journal check assets.journal -- ./assets',
      "media journal check assets.journal --exclude '*.psd' -- ./assets",
    ])
    .runs(async (options: ProofFlags, invocation, words: string[]) => {
      const {checkJournals} = await import('./check.ts');
      const named = await namedIn(words, options, invocation);
      if (!named.hasInputs) throw missingNameError('No input');
      return checkJournals({...named, ...options}, invocation);
    });
  journal
    .command('merge <file...>')
    .usage('[options] <file...> [-- <input...>]')
    .description(
      'Merge journals into one if they record each input, and each one after --, exactly once; otherwise the exit status is 1. Manifests are joined, also the two sides of a git conflict.',
    )
    .option('-o, --output <file>', 'the journal or manifest to write; one manifest is written in place')
    .addOptions([...selectionOptions(), typesOption()])
    .option('--json', 'print one JSON object per line')
    .examples([
      'media journal merge -o all.journal part-*.journal',
      "media journal merge -o all.journal part-*.journal --exclude '*.psd' -- ./assets",
      'media journal merge media.json',
    ])
    .runs(async (options: ProofFlags & {output?: string}, invocation, words: string[]) => {
      const named = await namedIn(words, options, invocation);
      const {output = named.areManifests && named.files.length === 1 ? named.files[0] : undefined} = options;
      if (output === undefined)
        throw new MediaError('usage', 'No file to write was given.', {hint: 'Name it with -o FILE.'});
      if (named.areManifests) {
        const {joinManifests} = await import('./join-manifests.ts');
        return joinManifests({...named, output}, invocation);
      }
      const {mergeJournals} = await import('./check.ts');
      const isFiltered = options.exclude !== undefined || options.all === true;
      if (isFiltered && !named.hasInputs) throw missingNameError('No input');
      return mergeJournals({...named, ...options, output}, invocation);
    });
  journal
    .command('resolve <file> [path]')
    .description(
      'Settle uploads whose result is unknown, by path, idempotency key or SHA-256, or all at once.',
    )
    .option('--all', 'settle all unknown uploads')
    .option('--uploaded <id>', 'the upload is stored, with this media ID')
    .option('--url <url>', 'with --uploaded: the URL of the file', parseUrl)
    .option(
      '--uploaded-from <list>',
      'with --all: a file that lists what is stored, a path and a media ID on each line, with its URL if known',
    )
    .option('--resend', 'the upload is not stored, or may be stored twice: send it again in the next run')
    .examples([
      'media journal resolve assets.journal photos/cat.png --uploaded med_123 --url https://cdn.example.com/cat.png',
      'media journal resolve assets.journal photos/cat.png --resend',
      'media journal resolve assets.journal --all --resend',
    ])
    .runs(async (options: Omit<ResolveOptions, 'file' | 'what'>, invocation, file: string, what?: string) => {
      const {resolveUnknown} = await import('./settle.ts');
      return resolveUnknown({file, ...omitUndefined({what}), ...options}, invocation);
    });
  journal
    .command('forget <file> <path>')
    .description(
      'Forget an upload that the service no longer has, by path or media ID: the next run sends it again.',
    )
    .examples(['media journal forget assets.journal photos/cat.png'])
    .runs(async (_options, invocation, file: string, what: string) => {
      const {forgetUpload} = await import('./settle.ts');
      return forgetUpload(file, what, invocation);
    });
}

/**
 * The journals or manifests, and the inputs, of a command line. Commander joins the words around `--`, so `argv` tells
 * them apart. Throws if manifests are to be compared with inputs, which the upload itself does.
 */
async function namedIn(words: readonly string[], {filesFrom = []}: ProofFlags, {argv, host}: Invocation) {
  const dashes = argv.indexOf('--');
  const inputCount = dashes === -1 ? 0 : argv.length - dashes - 1;
  const files = words.slice(0, words.length - inputCount);
  const [first] = files;
  if (first === undefined) throw missingNameError('No journal');
  const inputs = words.slice(words.length - inputCount);
  const hasInputs = inputs.length + filesFrom.length > 0;
  const {isManifest} = await import('../../../engine/manifest/manifest-store.ts');
  const areManifests = await isManifest(first, host);
  if (areManifests && hasInputs)
    throw new MediaError('usage', `${first} is a manifest, which media upload compares with inputs.`, {
      hint: `Use --check: media upload -r ./assets --manifest ${shellQuoted(first)} --check`,
    });
  return {files, inputs, hasInputs, areManifests};
}

function missingNameError(what: 'No journal' | 'No input'): MediaError {
  return new MediaError('usage', `${what} was given.`, {
    hint: 'List the journals, then -- and the inputs: media journal check assets.journal -- ./assets',
  });
}
