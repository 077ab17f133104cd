/** Our variables that contain a secret. */
const secrets = new Set(['MEDIA_API_KEY', 'MEDIA_CLIENT_KEY_PASSPHRASE', 'MEDIA_BRIDGE_SECRET']);

/** The environment for a program that we start: without our secrets, and without passwords for proxies. */
export function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env)
      // On Windows, names differ in case.
      .filter(([name]) => !secrets.has(name.toUpperCase()))
      .map(([name, value]) => [name, /_proxy$/i.test(name) ? value?.replace(credentials, '$1') : value]),
  );
}

/** The part of a URL before the last @ of its host, with or without a scheme. */
const credentials = /^([a-z][a-z\d+.-]*:\/\/)?.*@/i;
