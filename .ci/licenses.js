import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/** Name, version, licence and home page of every bundled package, with each text of a licence once. */
export function licenses(root, builds) {
  const packages = new Map();
  const homes = builds
    .flatMap(({metafile}) => Object.keys(metafile.inputs))
    .map(path => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0])
    .filter(home => home !== undefined);
  for (const home of new Set(homes)) {
    const {name, version, license, author, repository} = JSON.parse(
      readFileSync(join(root, home, 'package.json'), 'utf8'),
    );
    const file = readdirSync(join(root, home)).find(entry => /^licen[cs]e(-mit)?(\.\w+)?$/i.test(entry));
    const holder = typeof author === 'string' ? author : (author?.name ?? '');
    const text = file === undefined ? holder : readFileSync(join(root, home, file), 'utf8').trim();
    const source = typeof repository === 'string' ? repository : repository?.url;
    const same = packages.get(text) ?? [];
    packages.set(text, [...same, `${name} ${version} (${license})\n${source}\n`]);
  }
  return [...packages]
    .map(([text, names]) => `${[...new Set(names)].sort().join('')}\n${text}\n`)
    .sort()
    .join(`\n${'-'.repeat(80)}\n\n`);
}
