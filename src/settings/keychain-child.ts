import {text} from 'node:stream/consumers';
import {systemHost} from '../host.ts';
import {systemCode} from '../lib/system-code.ts';

/** What this process is asked for, as JSON on standard input. */
export interface KeychainRequest {
  action: 'get' | 'set' | 'delete';
  /** What the entry is for; it is filed under `media`. */
  account: string;
  /** With `set`. */
  key?: string;
}

/** What it answers, as JSON on standard output. */
export type KeychainAnswer = {key: string | null} | {failure: string};

// A keychain is reached by native code that may wait for ever; only a process of its own can be ended then.
const {stdin, stdout} = systemHost();
stdout.write(JSON.stringify(await answer(JSON.parse(await text(stdin)))));

async function answer({action, account, key = ''}: KeychainRequest): Promise<KeychainAnswer> {
  try {
    const {Entry} = await import('@napi-rs/keyring');
    // Linux's other store, the kernel's, forgets everything when the machine restarts.
    const entry = new Entry('media', account, {linux: {store: 'secret-service'}});
    if (action === 'delete') {
      entry.deleteCredential();
      return {key: null};
    }
    if (action === 'set') entry.setPassword(key);
    return {key: entry.getPassword()};
  } catch (error) {
    if (systemCode(error) === 'ERR_MODULE_NOT_FOUND') return {failure: '@napi-rs/keyring is not installed'};
    return {failure: error instanceof Error ? error.message : String(error)};
  }
}
