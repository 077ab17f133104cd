import {expect, test} from 'vitest';
import {type Host, systemHost} from '../../src/host.ts';
import {configDirectory, dataDirectory} from '../../src/settings/paths.ts';

function hostOf(platform: Host['platform'], env: Record<string, string> = {}, home = '/home/ada'): Host {
  return {...systemHost(), platform, env, homeDirectory: () => home, cwd: () => '/project'};
}

const linux: [string, string] = ['/home/ada/.config/media', '/home/ada/.local/share/media/embedded'];

test.each([
  ['Linux', hostOf('linux'), ...linux],
  ['FreeBSD', hostOf('freebsd'), ...linux],
  [
    'Linux with XDG directories',
    hostOf('linux', {XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d'}),
    '/c/media',
    '/d/media/embedded',
  ],
  ['empty XDG variables', hostOf('linux', {XDG_CONFIG_HOME: '', XDG_DATA_HOME: ''}), ...linux],
  [
    'macOS, which knows no XDG',
    hostOf('darwin', {XDG_CONFIG_HOME: '/c'}),
    '/home/ada/Library/Preferences/media',
    '/home/ada/Library/Application Support/media/embedded',
  ],
  [
    'Windows',
    hostOf('win32', {APPDATA: '/roaming', LOCALAPPDATA: '/local'}),
    '/roaming/media/Config',
    '/local/media/Data/embedded',
  ],
  [
    'Windows without its variables',
    hostOf('win32'),
    '/home/ada/AppData/Roaming/media/Config',
    '/home/ada/AppData/Local/media/Data/embedded',
  ],
  ['MEDIA_CONFIG_DIR', hostOf('linux', {MEDIA_CONFIG_DIR: 'here'}), '/project/here', linux[1]],
])('directories: %s', (_, host, config, data) => {
  expect([configDirectory(host), dataDirectory(host)]).toEqual([config, data]);
});

test('a home that is no absolute path', () => {
  const host = hostOf('linux', {}, '.');
  expect(() => configDirectory(host)).toThrow('There is no home directory: .config/media is not an absolute');
});
