import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {startSink} from './measure.js';
import {nodeVersions} from './node-versions.js';

export const program = fileURLToPath(new URL('../../../bin/media.js', import.meta.url));

/** A command line of the program, run by this Node. */
export const media = (...parameters) => [process.execPath, program, ...parameters];
export const upload = (...parameters) => media('upload', ...parameters);

/** A command line of a bare loop of undici, one of the programs beside this file. */
export const bareLoop = (name, ...parameters) => [
  process.execPath,
  fileURLToPath(new URL(name, import.meta.url)),
  ...parameters,
];

/** The newest Node beside the one that runs this: what is short depends much on how soon it compiles. */
export function newestNode(directory) {
  const [[major, node]] = [...nodeVersions(directory)].sort(([a], [b]) => b - a);
  return {major, node};
}

/** The environment of a program that posts to a sink, with no settings of its user's. */
export function environment(url, directory) {
  return {MEDIA_BASE_URL: url, MEDIA_API_KEY: 'bench', MEDIA_CONFIG_DIR: join(directory, 'config')};
}

/** A measurement that gets a sink, which is ended afterwards. */
export function withSink(measure, ...parameters) {
  return async (directory, isFull) => {
    const sink = await startSink(...parameters);
    try {
      return await measure(directory, sink, isFull);
    } finally {
      sink.stop();
    }
  };
}
