import {expect, test} from 'vitest';
import {configDirectory, dataDirectory, journalDirectory} from '../../../src/cli/settings/paths.ts';
import {type Host, systemHost} from '../../../src/host.ts';

function hostOf(platform: Host['platform'], env: Record<string, string> = {}, home = '/home/ada'): Host {
  return {...systemHost(), platform, env, homeDirectory: () => home, cwd: () => '/project'};
}

const linux: [string, string, string] = [
  '/home/ada/.config/media',
  '/home/ada/.local/share/media/embedded',
  '/home/ada/.local/state/media/journals',
];

test.each([
  ['Linux', hostOf('linux'), ...linux],
  ['FreeBSD', hostOf('freebsd'), ...linux],
  [
    'Linux with XDG directories',
    hostOf('linux', {XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s'}),
    '/c/media',
    '/d/media/embedded',
    '/s/media/journals',
  ],
  [
    'empty XDG variables',
    hostOf('linux', {XDG_CONFIG_HOME: '', XDG_DATA_HOME: '', XDG_STATE_HOME: ''}),
    ...linux,
  ],
  [
    'macOS, which knows no XDG',
    hostOf('darwin', {XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s'}),
    '/home/ada/Library/Preferences/media',
    '/home/ada/Library/Application Support/media/embedded',
    '/home/ada/Library/Application Support/media/journals',
  ],
  [
    'Windows',
    hostOf('win32', {APPDATA: '/roaming', LOCALAPPDATA: '/local'}),
    '/roaming/media/Config',
    '/local/media/Data/embedded',
    '/local/media/Data/journals',
  ],
  [
    'Windows without its variables',
    hostOf('win32'),
    '/home/ada/AppData/Roaming/media/Config',
    '/home/ada/AppData/Local/media/Data/embedded',
    '/home/ada/AppData/Local/media/Data/journals',
  ],
  ['MEDIA_CONFIG_DIR', hostOf('linux', {MEDIA_CONFIG_DIR: 'here'}), '/project/here', ...linux.slice(1)],
])('directories: %s', (_, host, ...directories) => {
  expect([configDirectory(host), dataDirectory(host), journalDirectory(host)]).toEqual(directories);
});

test('a home that is no absolute path', () => {
  const host = hostOf('linux', {}, '.');
  expect(() => configDirectory(host)).toThrow('There is no home directory: .config/media is not an absolute');
});
