import {spawnSync} from 'node:child_process';
import {gzipSync} from 'node:zlib';

/**
 * As .gz, without a name or a time in it, by libdeflate-gzip, which makes the smallest one. Where that is not installed, by zlib:
 * that is said on standard error, and `isLarger` is set.
 */
export function compress(bytes) {
  const {status, error, stdout} = spawnSync('libdeflate-gzip', ['-12', '-c'], {
    input: bytes,
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return {archive: stdout, isLarger: false};
  if (error?.code !== 'ENOENT') throw new Error(`libdeflate-gzip failed: ${error?.message ?? status}.`);
  console.error(
    'Compressed by zlib, which takes about 7 % more, since libdeflate-gzip is not installed (Debian and Ubuntu: apt-get install libdeflate-tools).',
  );
  return {archive: gzipSync(bytes, {level: 9}), isLarger: true};
}
