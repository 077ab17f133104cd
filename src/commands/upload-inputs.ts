import {MediaError} from '../errors.ts';
import type {Source} from '../sources/source.ts';
import type {TransferOptions} from '../transfer/transfer.ts';
import type {Invocation} from './cli.ts';
import type {UploadOptions} from './upload.ts';

/** The sources that the command line names, or a usage error. */
export async function listSources(options: UploadOptions, {host}: Invocation): Promise<Source[]> {
  const {inputs} = options;
  if (inputs.length === 0 && !options.allowEmpty) {
    throw new MediaError('usage', 'There is nothing to upload: no input was named.', {
      hint: 'Name files, as in media upload photo.png, or - for standard input.',
    });
  }
  const fromStdin = inputs.filter(input => input === '-').length;
  if (fromStdin > 1)
    throw new MediaError('usage', 'Standard input was named twice, but can be read only once.', {
      hint: 'Name - once.',
    });
  if (options.name !== undefined && fromStdin === 0) {
    throw new MediaError('usage', '--name names what comes on standard input, and no input is -.', {
      hint: 'Use it as in: media upload - --name photo.png < photo.png',
    });
  }
  const [{fileSource}, {stdinSource}] = await Promise.all([
    import('../sources/file.ts'),
    import('../sources/stdin.ts'),
  ]);
  const stdin = {
    stdin: host.stdin,
    temporaryDirectory: host.temporaryDirectory(),
    ...(options.name === undefined ? {} : {name: options.name}),
  };
  return inputs.map(input => (input === '-' ? stdinSource(stdin) : fileSource(input, host.cwd())));
}

export type TypeDecision = TransferOptions['contentType'];

/** What decides the content type of each source under these options; a bad --content-type is a usage error. */
export async function typeDecision(options: UploadOptions): Promise<TypeDecision> {
  const {decideContentType, parseContentType} = await import('../sources/content-type.ts');
  if (options.contentType === undefined) {
    return (source, opened) => decideContentType(source.typeName, opened, options.types);
  }
  const contentType = parseContentType(options.contentType);
  return async () => ({contentType});
}
