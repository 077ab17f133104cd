import type {CliCommand} from '../../session/invocation.ts';
import {timeoutOption} from '../../session/values.ts';
import type {LoginOptions} from './run-login.ts';

export function loginCommand(login: CliCommand): void {
  login
    .description('Check an API key with the service and store it.')
    .usage('[--base-url <url>] [options]')
    .option('--key-stdin', 'read the key from standard input')
    .option('--no-verify', 'store the key without checking it')
    .option('--insecure-storage', 'store the key in the settings file instead of the keychain')
    .addOption(timeoutOption())
    .examples([
      'media login --base-url https://api.example.com',
      'pass show media/key | media login --base-url https://api.example.com --key-stdin',
      'media login --profile staging --base-url https://staging.example.com',
    ])
    .runs(async (options: LoginOptions, invocation) => {
      const {runLogin} = await import('./run-login.ts');
      return runLogin(options, invocation);
    });
}
