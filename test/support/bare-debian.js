// A bare Debian: its essential packages and apt, as debootstrap makes it for root. MEDIA_BARE_DEBIAN names a directory that keeps it.
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/** Why there can be none here; undefined if there can. */
export function whyNoBareDebian() {
  if (process.getuid?.() !== 0) return 'only root can make a root directory';
  const missing = ['debootstrap', 'unshare'].filter(
    program => spawnSync(program, ['--version']).error !== undefined,
  );
  if (missing.length === 0) return undefined;
  return `not installed: ${missing.join(', ')} (Debian and Ubuntu: apt-get install debootstrap util-linux)`;
}

/** The path of a bare Debian, which is made below this directory unless there is one. Nothing may be written to it. */
export function bareDebian(directory) {
  const bare = process.env.MEDIA_BARE_DEBIAN ?? join(directory, 'bare');
  if (!existsSync(join(bare, 'var/lib/dpkg/info/apt.list')) || existsSync(join(bare, 'debootstrap')))
    execFileSync('debootstrap', ['--variant=minbase', 'trixie', bare, ...mirror()], {
      stdio: ['ignore', 2, 2],
    });
  return bare;
}

/** The first mirror of Debian that apt uses here, in the old format or the new one; otherwise debootstrap knows one. */
function mirror() {
  const directory = '/etc/apt/sources.list.d';
  const files = existsSync(directory) ? readdirSync(directory).map(name => join(directory, name)) : [];
  const texts = ['/etc/apt/sources.list', ...files]
    .filter(file => existsSync(file))
    .map(file => readFileSync(file, 'utf8'));
  return texts
    .flatMap(text => /^(?:URIs:|deb(?: \[.*?\])?) (\S+\/debian\/?)(?:\s|$)/m.exec(text)?.[1] ?? [])
    .slice(0, 1);
}
