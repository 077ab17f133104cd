import {commonCommands, type Face, facts} from '../../hint.ts';
import {shellQuoted, shellWord} from '../../lib/shell.ts';
import {type HintedRun, hintOptions} from '../settings/hint-options.ts';

/** An option, with its value if it has one. */
export const valued = (flag: string) => (value?: string) => (value === undefined ? flag : `${flag} ${value}`);

/** How the command line writes hints. `options`: those of runOptions(), for commands to repeat what this run does. */
export function commandLine(options = ''): Face {
  const upload = `media upload${options}`;
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
      ...commonCommands,
      sendAgain: (how, isLast) =>
        `. To send it again, ${{'next run': 'run the command again', option: 'add --on-unknown retry', single: 'upload only that file'}[how]}${isLast ? '.' : ''}`,
      sendFewer: count => `-c ${count}`,
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

/** The face for an error that several files have, which leaves out what is true of one file only. */
export function ofSeveral(face: Face): Face {
  return {...face, command: {...face.command, settle: '.'}, fact: {...face.fact, mediaId: undefined}};
}

/** ` --profile staging --geotags strip` and the like: the options by which a command sends what this run would. */
export function runOptions(run: HintedRun, {geotags}: {geotags?: string}): string {
  return hintOptions(run) + (geotags === undefined ? '' : ` --geotags ${geotags}`);
}
