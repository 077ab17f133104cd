import {expect} from 'vitest';
import {sandboxFor} from '../../engine/service/program.ts';
import type {Sandbox} from '../../support/media.ts';
import {isUploadLook, type ScriptedConnection, scriptedServer} from '../../support/scripted-server.ts';

interface Check {
  check: string;
  status: 'ok' | 'warning' | 'unverified' | 'skipped' | 'failed';
  message?: string;
  error?: {code: string; message: string; hint?: string};
}

/** The checks in their order. */
export const checkNames = [
  ...['installation', 'configuration', 'file-modes', 'base-url', 'proxy', 'dns', 'connection', 'tls', 'key'],
  'upload-path',
];

/** What `media doctor --json` finds; nothing may stand on standard error. */
export async function examine(box: Sandbox, parameters: string[] = []) {
  const {stdout, stderr, exitCode} = await box.run(['doctor', '--json', ...parameters]);
  expect(stderr).toBe('');
  const report: {status: string; checks: Check[]} = JSON.parse(stdout);
  expect(report.checks.map(({check}) => check)).toEqual(checkNames);
  const failed = report.checks.filter(({status}) => status === 'failed');
  expect(report.status).toBe(failed.length === 0 ? 'ok' : 'failed');
  const found = (name: string) => report.checks.find(({check}) => check === name) as Check;
  return {exitCode, stdout, found, failed: failed.map(({check, error}) => ({check, ...error}))};
}

/** A service that takes the key, and answers the look at the upload path in this way. */
export async function service(look: (connection: ScriptedConnection) => void, prefix = '') {
  const {url, requests} = await scriptedServer(async connection => {
    const request = await connection.request();
    if (isUploadLook(request)) look(connection);
    else connection.answer(200, '{"data":{"__typename":"Query"}}');
  });
  const looks = () => requests.filter(isUploadLook);
  return {box: await sandboxFor(`${url}${prefix}`), url, looks};
}
