import {text} from 'node:stream/consumers';
import {systemHost} from '../../host.ts';
import {systemCode} from '../../lib/system-code.ts';

/** The request to this process, as JSON on standard input. */
export interface KeychainRequest {
  action: 'get' | 'set' | 'delete';
  /** The account of the entry, whose service is `media`. */
  account: string;
  /** The key to store, with `set`. */
  key?: string;
}

/** The result of this process, as JSON on standard output: the key in the keychain, or why it failed. */
export type KeychainResponse = {key: string | null} | {failure: string};

/** The process of runChild. A keychain's native code may never return, and only a process can be ended then. */
export async function serveKeychain(): Promise<void> {
  const {stdin, stdout} = systemHost();
  stdout.write(JSON.stringify(await respond(JSON.parse(await text(stdin)))));
}

/** Carries out a request; a keychain that fails is a response, never a rejection. */
async function respond({action, account, key = ''}: KeychainRequest): Promise<KeychainResponse> {
  try {
    const {Entry} = await import('@napi-rs/keyring');
    // The default store on Linux, the kernel's, forgets everything when the machine restarts.
    const entry = new Entry('media', account, {linux: {store: 'secret-service'}});
    if (action === 'delete') {
      entry.deleteCredential();
      return {key: null};
    }
    if (action === 'set') entry.setPassword(key);
    return {key: entry.getPassword()};
  } catch (error) {
    if (systemCode(error) === 'MODULE_NOT_FOUND') return {failure: '@napi-rs/keyring is not installed'};
    return {failure: (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')};
  }
}
