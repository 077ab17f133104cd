import {chmod, copyFile, mkdir, readdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execa} from 'execa';
import {expect, test} from 'vitest';
import {needPrograms} from '../../support/installed.ts';
import {fixture, mediaInShell, sandbox} from '../../support/media.ts';
import {patienceMs, slowTest} from '../../support/patience.ts';

const documented = fileURLToPath(new URL('../../../docs/examples/', import.meta.url));
const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** A project with a seed, and `media` on the PATH. */
async function project() {
  const box = await sandbox();
  const at = (...names: string[]) => join(box.directory, ...names);
  for (const name of ['bin', 'seed', 'test', 'tmp']) await mkdir(at(name));
  for (const name of ['photo.png', 'clip.mp4']) await copyFile(fixture(name), at('seed', name));
  await writeFile(at('bin/media'), `#!/bin/sh\nexec ${mediaInShell} "$@"\n`);
  await chmod(at('bin/media'), 0o755);
  // A key of the environment is none that the fixtures know.
  const key = {MEDIA_SERVE_KEY: 'a-key-for-tests-0001'};
  const PATH = `${at('bin')}${delimiter}${process.env['PATH']}`;
  // What the programs of other languages keep belongs into the project too.
  const env = {
    ...box.env,
    ...key,
    PATH,
    HOME: box.directory,
    TMPDIR: at('tmp'),
    GOFLAGS: '-count=1',
    GOPROXY: 'off',
  };
  const run = (command: string, parameters: string[], more = {}) =>
    execa(command, parameters, {
      ...{cwd: box.directory, env: {...env, ...more}, extendEnv: false, reject: false, all: true},
      timeout: patienceMs,
    });
  return {at, run};
}

test('the fixture for vitest, in six files side by side: seeded, made to fail, reset; the same in the next run', {
  ...slowTest,
}, async () => {
  const {at, run} = await project();
  await writeFile(at('package.json'), '{"type": "module"}');
  await copyFile(join(documented, 'media.js'), at('test/media.js'));
  const names = Array.from({length: 6}, (_, count) => `gallery-${count}`);
  for (const name of names)
    await copyFile(join(documented, 'gallery.test.js'), at('test', `${name}.test.js`));
  await symlink(packages, at('node_modules'));
  const vitest = join(packages, 'vitest/vitest.mjs');
  const tests = ['run', '--root', at(), '--maxWorkers=6', '--reporter=json', '--outputFile=results.json'];
  // Other tests may want the processors meanwhile.
  tests.push(`--testTimeout=${patienceMs}`, `--hookTimeout=${patienceMs}`);
  // In CI, vitest writes no snapshots, and fails without them.
  for (const isFirst of [true, false]) {
    const {exitCode, all} = await run(process.execPath, [vitest, ...tests], isFirst ? {} : {CI: 'true'});
    expect({exitCode, all}).toEqual({exitCode: 0, all: expect.any(String)});
    expect(JSON.parse(await readFile(at('results.json'), 'utf8'))).toMatchObject({
      ...{
        numPassedTests: 18,
        numFailedTests: 0,
        snapshot: {added: isFirst ? 6 : 0, unmatched: 0},
      },
    });
  }
  const snapshots = await Promise.all(
    (await readdir(at('test/__snapshots__'))).map(name => readFile(at('test/__snapshots__', name), 'utf8')),
  );
  expect(snapshots).toHaveLength(6);
  expect(new Set(snapshots).size).toBe(1);
  expect(snapshots[0]).toMatch(/"id": "m_0000000000\w+"/);
});

test(
  'the fixture for pytest: two tests that store the same, and find the seed only',
  slowTest,
  async context => {
    needPrograms(context, ['pytest']);
    const {at, run} = await project();
    await copyFile(join(documented, 'conftest.py'), at('conftest.py'));
    const code = `
import json, os, subprocess
import pytest

@pytest.mark.parametrize("count", [1, 2])
def test_upload(media, count):
    env = {**os.environ, **media}
    subprocess.run(["media", "upload", "seed/photo.png", "--no-once"], env=env, check=True)
    query = ["media", "graphql", "{ mediaList { totalCount } }"]
    listed = json.loads(subprocess.run(query, env=env, check=True, capture_output=True).stdout)
    assert listed["data"]["mediaList"]["totalCount"] == 3
`;
    await writeFile(at('test_gallery.py'), code);
    const {exitCode, all} = await run('pytest', ['-q', '-p', 'no:cacheprovider']);
    expect({exitCode, all}).toEqual({exitCode: 0, all: expect.stringContaining('2 passed')});
  },
);

test('the fixture for Go: two tests that store the same, and find the seed only', slowTest, async context => {
  needPrograms(context, ['go']);
  const {at, run} = await project();
  await writeFile(at('go.mod'), 'module example.test/gallery\n\ngo 1.19\n');
  await copyFile(join(documented, 'media_test.go'), at('media_test.go'));
  const code = `package gallery

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

func call(t *testing.T, path string, contentType string, body io.Reader) string {
	request, _ := http.NewRequest("POST", media["MEDIA_BASE_URL"]+path, body)
	request.Header.Set("Authorization", "Bearer "+media["MEDIA_API_KEY"])
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != 200 {
		t.Fatal(response, err)
	}
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

func store(t *testing.T) {
	resetAfter(t)
	photo, _ := os.ReadFile("seed/photo.png")
	call(t, "/v1/media/upload", "image/png", strings.NewReader(string(photo)))
	listed := call(t, "/graphql", "application/json", strings.NewReader(\`{"query": "{mediaList {totalCount}}"}\`))
	if !strings.Contains(listed, \`"totalCount":3\`) {
		t.Error(listed)
	}
}

func TestOne(t *testing.T) { store(t) }
func TestTwo(t *testing.T) { store(t) }
`;
  await writeFile(at('gallery_test.go'), code);
  const {exitCode, all} = await run('go', ['test', './...']);
  expect({exitCode, all}).toEqual({exitCode: 0, all: expect.stringContaining('ok')});
});
