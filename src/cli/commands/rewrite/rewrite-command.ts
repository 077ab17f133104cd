import type {CliCommand} from '../../session/invocation.ts';
import {collect, concurrencyOption, geotagsOption} from '../../session/values.ts';
import type {RewriteFlags} from './reference-printer.ts';

/** The options that most people need: those that brief help shows. */
const commonOptions = [
  ...['--write', '--out-dir', '--stdout', '--check', '--links', '--root', '--static'],
  ...['--allow-missing', '--ndjson', '--manifest'],
];

export function rewriteCommand(rewrite: CliCommand): void {
  rewrite
    .description('Upload the media that documents refer to, and insert their URLs.')
    .argument('<input...>', 'documents, and directories of documents')
    .optionsGroup('What to do (default: report what would be uploaded):')
    .option('--write', 'upload, and rewrite the documents in place')
    .option('--out-dir <directory>', 'upload, and write the documents to this directory')
    .option('--stdout', 'upload, and print the rewritten document')
    .option('--check', 'exit with status 1 if a document refers to local media')
    .exclusive('--write', '--out-dir', '--stdout', '--check')
    .optionsGroup('References:')
    .option('--links', 'include links to images and videos, such as [clip](clip.mp4)')
    .option('--front-matter <key>', 'include the values of this key in the front matter', collect)
    .option(
      '--root <directory>',
      'read no file outside this directory; /x.png is x.png in it (default: the git work tree)',
    )
    .option('--static <directory>', 'look for /x.png in this directory first', collect)
    .option('--allow-missing', 'do not change references to files that cannot be uploaded')
    .optionsGroup('Output:')
    .option('--ndjson', 'print one JSON line per reference')
    .option('--template <text>', 'print this text for each uploaded file, such as "{file}\\t{url}\\n"')
    .optionsGroup('Transfer:')
    .addOption(geotagsOption())
    .addOption(concurrencyOption())
    .optionsGroup('Memory:')
    .option('--manifest <file>', 'take URLs from this manifest, and add what is uploaded')
    .option('--journal <file>', "record what was uploaded in this journal instead of this machine's own")
    .option('--no-once', 'upload again what this machine has already uploaded')
    .exclusive('--stdout', '--ndjson', '--template')
    .exclusive('--manifest', '--journal', '--no-once')
    .optionsGroup('CI:')
    .option('--ci', 'in GitHub Actions, write annotations and a summary')
    .examples(
      [
        'media rewrite README.md',
        'media rewrite --write README.md docs',
        'media rewrite --out-dir public content --root static',
        'media rewrite --stdout post.md > published.md',
        'media rewrite --check --ci docs',
      ],
      commonOptions,
    )
    .runs(async (options: Omit<RewriteFlags, 'inputs'>, invocation, inputs: string[]) => {
      const {runRewrite} = await import('./rewrite-run.ts');
      return runRewrite({...options, inputs}, invocation);
    });
}
