import {describe, expect, it} from 'vitest';
import {sandbox} from '../../support/media.ts';

describe('a command line that cannot be understood', () => {
  it.each([
    [['uplaod', 'photo.png'], "media: Unknown command 'uplaod'.\n  Did you mean upload?\n"],
    // It starts our own child processes only.
    [['__child', 'media'], "media: Unknown command '__child'.\n  For help, run: media --help\n"],
    [['photo.png'], "media: Unknown command 'photo.png'.\n  To upload: media upload photo.png\n"],
    [['upload', 'photo.png', '--jsn'], "media: Unknown option '--jsn'.\n  Did you mean --json?\n"],
    [
      ['upload', '-r', '.', '--include', '*.gif'],
      "media: Unknown option '--include'.\n  To take only some files, give a pattern as the input, or leave out others with --exclude.\n",
    ],
    ...(
      [
        ['upload', '--url', 'Did you mean --format url?'],
        ['login', '--url', 'Did you mean --base-url?'],
        ['upload', '--silent', 'Did you mean --quiet?'],
        ['serve', '--cors', 'Did you mean --allow-origin?'],
        ['upload', '--progress', 'Leave it out: only --no-progress changes what is shown.'],
        ['upload', '-0', 'For help, run: media upload --help'],
        ['rewrite', '-1', 'For help, run: media rewrite --help'],
      ] as const
    ).map(([command, option, hint]): [string[], string] => [
      [command, option],
      `media: Unknown option '${option}'.\n  ${hint}\n`,
    ]),
    ...['api.example.com', 'localhost:4010', 'https://api.example.com'].map((url): [string[], string] => [
      ['login', url],
      `media: media login takes no arguments.\n  Set the service with --base-url: media login --key-stdin --base-url ${
        url.startsWith('https') ? '' : url.startsWith('local') ? 'http://' : 'https://'
      }${url}\n`,
    ]),
    [
      ['login', 'localhost:99999'],
      'media: No option or argument takes a key, because other users can read command lines.\n',
    ],
    [['whoami', '--profil', 'x'], "media: Unknown option '--profil'.\n  Did you mean --profile?\n"],
    [['help', 'uplaod'], "media: Unknown command 'uplaod'.\n  Did you mean upload?\n"],
    [['help', 'journal', 'lst'], "media: Unknown command 'lst'.\n  Did you mean list?\n"],
    [['config', 'lst'], "media: Unknown command 'lst'.\n  Did you mean list?\n"],
    [
      ['logout', 'now'],
      "media: Too many arguments for 'logout'. Expected 0 arguments but got 1.\n  For help, run: media logout --help\n",
    ],
    [
      ['upload', '--format'],
      "media: Option '--format <format>' argument missing.\n  For help, run: media upload --help\n",
    ],
    [
      ['config', 'get'],
      "media: Missing required argument 'name'.\n  For help, run: media config get --help\n",
    ],
    ...['--json=true', '--json=false', '--quiet=sk_secret'].map((word): [string[], string] => {
      const option = word.replace(/=.*/, '');
      return [
        ['upload', 'photo.png', word],
        `media: The option ${option} takes no value.\n  Write ${option} on its own, or leave it out.\n`,
      ];
    }),
    [
      ['--recursive', 'upload', 'photo.png'],
      "media: Unknown option '--recursive'.\n  For help, run: media upload --help\n",
    ],
    ...['list', 'ls', 'delete', 'rm'].map((word): [string[], string] => [
      [word, 'm_1'],
      `media: Unknown command '${word}'.\n  To list and delete stored files, send queries: media graphql --help\n`,
    ]),
    [['--frobnicate'], "media: Unknown option '--frobnicate'.\n  For help, run: media --help\n"],
  ])('%j: a sentence and what to do next, exit 2', async (parameters, expected) => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run(parameters);
    expect(stderr.startsWith(expected)).toBe(true);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });

  it('--json among the words: the complaint is one JSON line', async () => {
    const {stdout, stderr, exitCode} = await (await sandbox()).run([
      'upload',
      '--json',
      '--retries',
      'x',
      'photo.png',
    ]);
    expect(JSON.parse(stderr)).toMatchObject({
      error: {code: 'usage', message: expect.stringContaining('--retries')},
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 2});
  });

  it('control characters in it: escaped in the complaint', async () => {
    const {stderr, exitCode} = await (await sandbox()).run(['\u001b]8;;http://x\u0007upload']);
    expect(stderr).toContain("Unknown command '\\u001b]8;;http://x\\u0007upload'");
    expect(exitCode).toBe(2);
  });
});
