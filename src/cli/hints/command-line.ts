import {type Face, facts} from '../../hint.ts';
import {shellQuoted, shellWord} from '../../lib/shell.ts';
import {type HintedRun, hintOptions} from '../settings/hint-options.ts';

/**
 * How the command line writes hints. `options` are those with which a command sends nothing that this run would not,
 * and to the same service.
 */
export function commandLine(options = ''): Face {
  const upload = `media upload${options}`;
  const valued = (flag: string) => (value?: string) => (value === undefined ? flag : `${flag} ${value}`);
  return {
    option: {
      allowHttp: '--allow-http',
      baseUrl: (url, allowHttp) => `--base-url ${shellWord(url)}${allowHttp ? ' --allow-http' : ''}`,
      certificateAuthorities: '--cacert FILE',
      concurrency: '--concurrency',
      contentType: valued('--content-type'),
      filesFrom: '--files-from',
      frontMatter: '--front-matter',
      journal: '--journal',
      manifest: '--manifest',
      name: '--name',
      noOnce: '--no-once',
      once: '--once',
      outDir: '--out-dir',
      output: '-o',
      profile: '--profile',
      recursive: '-r',
      retries: '--retries',
      retryMaxWait: '--retry-max-wait',
      root: '--root',
      shard: valued('--shard'),
      static: directory => `--static ${shellQuoted(directory)}`,
      timeout: '--timeout',
      types: valued('--types'),
    },
    command: {
      mergeJournals: 'media journal merge',
      renewKey: 'Copy the key again from the profile page of the service.',
      sendAgain: (how, isLast) =>
        `. To send it again, ${{'next run': 'run the command again', option: 'add --on-unknown retry', single: 'upload only that file'}[how]}${isLast ? '.' : ''}`,
      sendFewer: count => `-c ${count}`,
      settle: (condition, journal, key) =>
        `${condition}: media journal resolve ${shellQuoted(journal)} ${shellWord(key)} --uploaded ID`,
      upload: file => `media upload ${file}`,
      uploadDirectory: directory => `${upload} -r ${shellQuoted(directory)}`,
      uploadStdin: `${upload} - --name photo.png < photo.png`,
      uploadStream: from => `Pipe its content in: ${upload} - --name FILE < ${from}`,
      uploadWithJournal: 'Upload with --journal FILE first.',
      uploadWithoutOnce: ", or upload without this machine's own journal: --no-once",
      waitLonger: seconds => `add --retry-max-wait ${seconds}s`,
    },
    setting: {baseUrl: 'the base URL', clientCert: 'client-cert', embedded: 'embedded'},
    variable: {clientCert: 'MEDIA_CLIENT_CERT'},
    fact: facts,
  };
}

/** The same for an error that several files have: without what is so for one of them. */
export function ofSeveral(face: Face): Face {
  return {...face, command: {...face.command, settle: '.'}, fact: {...face.fact, mediaId: undefined}};
}

/**
 * The options of commands in hints, which must not send what this run would not: of its profile and service, and
 * `--geotags`.
 */
export function runOptions(run: HintedRun, {geotags}: {geotags?: string}): string {
  return hintOptions(run) + (geotags === undefined ? '' : ` --geotags ${geotags}`);
}
