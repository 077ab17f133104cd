import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {exitStatusOf} from '../../../src/errors.ts';
import {generatedFiles} from '../../../tools/generated-files.ts';
import {needPrograms} from '../../support/installed.ts';
import {root, testFresh} from '../fresh.ts';

// The test beside this folder has those of the program.
const generated = [...(await generatedFiles(root))].filter(([path]) => path.startsWith('docs/'));

describe('what is generated from the code', () => testFresh(new Map(generated)));

describe('the manual page', () => {
  it('is rendered without a warning, with all commands, settings, variables, files, statuses and error codes', async context => {
    needPrograms(context, ['man', 'groff']);
    const page = fileURLToPath(new URL('man/media.1', root));
    const {stdout, stderr} = await execa('man', ['--warnings', '-E', 'UTF-8', '-l', page], {
      env: {...process.env, MANWIDTH: '80', LC_ALL: 'C.UTF-8', MAN_KEEP_FORMATTING: ''},
      extendEnv: false,
    });
    expect(stderr).toBe('');
    for (const heading of [
      'NAME',
      'SYNOPSIS',
      'COMMANDS',
      'GLOBAL OPTIONS',
      'SETTINGS',
      'ENVIRONMENT',
      'FILES',
      'EXIT STATUS',
      'ERROR CODES',
      'EXAMPLES',
    ]) {
      expect(stdout).toMatch(new RegExp(`^${heading}$`, 'm'));
    }
    expect(stdout).toMatch(/^ {3}media upload \[options\] \[input\.\.\.\]$/m);
    expect(stdout).toMatch(
      /^ {7}Transfer\n\n(?:.*\n)*? {7}-c, --concurrency <n>\n {14}How +many +files +at +a +time +\(default:\s+auto\)\.$/m,
    );
    expect(stdout).toMatch(/^ {7}130, 143, 129\n {14}Ended by SIGINT, SIGTERM, SIGHUP\.$/m);
    expect(stdout).toMatch(/^ {7}client-key\n {14}A +PEM +file [^.]*\(MEDIA_CLIENT_KEY\)\.$/m);
    expect(stdout).toMatch(/^ {7}MEDIA_CONFIG_DIR\n {14}\S/m);
    expect(stdout).toMatch(/^ {7}~\/\.config\/media\/config\.json\n {14}\S/m);
    for (const [code, status] of Object.entries(exitStatusOf))
      expect(stdout).toMatch(new RegExp(`^ {7}${code} \\(${status}\\)\\n {14}\\S`, 'm'));
    expect(stdout).toContain("media upload -r ./assets --exclude '*.psd' --ndjson | jq -r .url");
  });
});
