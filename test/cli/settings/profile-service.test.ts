import {describe, expect, it} from 'vitest';
import {droppedNote, serviceSettings, withBaseUrl} from '../../../src/cli/settings/profile.ts';
import {settingNames, settingTable} from '../../../src/cli/settings/setting-table.ts';
import type {Profile} from '../../../src/cli/settings/store.ts';
import {own} from '../../../src/lib/object.ts';

/** The settings that are the same for every service, and the base URL itself. */
const ofMachine = ['base-url', 'cacert', 'once', 'concurrency', 'limit-rate', 'retry-max-wait'] as const;

/** A value of each setting that belongs to a service, as `media login` and `media config set` store it. */
const ofService: Required<Omit<Profile, (typeof ofMachine)[number]>> = {
  key: 'mk_of_a',
  'key-store': 'keychain',
  'key-origin': 'https://a.example',
  'key-account': 'account_1',
  'key-command': 'pass show a',
  'graphql-url': 'https://a.example/internal',
  'profile-url': 'https://app.a.example/profile',
  'client-cert': '/etc/a.pem',
  'client-key': '/etc/a.key',
  'idempotency-keys': 'honoured',
};
const whole: Profile = {'base-url': 'https://a.example/base', cacert: '/etc/ca.pem', ...ofService};

it('every setting belongs to a service, is the base URL, or is about this machine', () => {
  expect(serviceSettings().sort()).toEqual(Object.keys(ofService).sort());
  const rest = settingNames.filter(name => !serviceSettings().some(known => known === name));
  expect(rest).toEqual(ofMachine);
});

describe.each(Object.entries(ofService))('%s', (name, value) => {
  const profile: Profile = {'base-url': 'https://a.example/base', [name]: value};

  it.each([
    ['another host', 'https://b.example/base'],
    ['another port', 'https://a.example:8443/base'],
    ['another scheme', 'http://a.example/base'],
    ['embedded', 'embedded'],
    ['none', undefined],
  ])('%s: dropped', (_name, baseUrl) => {
    expect(withBaseUrl(profile, baseUrl)).toEqual({
      profile: baseUrl === undefined ? {} : {'base-url': baseUrl},
      removedSettings: [name],
    });
  });

  it('another path of the same origin: kept, but for what was found out about the base URL itself', () => {
    const {removedSettings} = withBaseUrl(profile, 'https://a.example/other');
    const isOfUrl = own(settingTable, name)?.belongsTo === 'base URL if known';
    expect(removedSettings).toEqual(isOfUrl ? [name] : []);
  });

  it('the same base URL, and the first one: kept', () => {
    expect(withBaseUrl(profile, 'https://a.example/base/').removedSettings).toEqual([]);
    const first = name === 'key-origin' ? 'https://a.example' : 'https://b.example';
    expect(withBaseUrl({[name]: value}, first).removedSettings).toEqual([]);
  });
});

it('all of them at once: what is about this machine stays, and the note names the rest', () => {
  const {profile, removedSettings} = withBaseUrl(whole, 'https://b.example');
  expect(profile).toEqual({'base-url': 'https://b.example', cacert: '/etc/ca.pem'});
  expect(droppedNote(whole, removedSettings)).toBe(
    'Removed the settings that belong to https://a.example: key, graphql-url, profile-url, key-command, client-cert, client-key, idempotency-keys.',
  );
  expect(droppedNote(whole, [])).toBeUndefined();
});

it('a key of an origin that is no more the base URL: not taken along to a third', () => {
  const moved: Profile = {'base-url': 'https://b.example', key: 'k', 'key-origin': 'https://a.example'};
  expect(withBaseUrl(moved, 'https://b.example').removedSettings).toEqual(['key', 'key-origin']);
});
