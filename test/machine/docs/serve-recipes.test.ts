import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {environment} from '../../../tools/reference.ts';
import {rawConnection} from '../../embedded/support.ts';
import {example, markdown} from '../../support/examples.ts';
import {gitlabJobs} from '../../support/gitlab.ts';
import {needPrograms} from '../../support/installed.ts';
import {fixture, sandbox, temporaryDirectory} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {serve} from '../../support/served.ts';

const page = 'docs/serve-in-ci.md';
const github = example(page, 'yaml', 'runs-on');
const gitlab = example(page, 'yaml', 'alias');
const compose = markdown('docs/examples/compose.yaml');

type Variables = Record<string, string>;

const {test: githubJob} = (
  parse(github) as {
    jobs: Record<string, {services: Record<string, {env: Variables; ports: string[]}>; env: Variables}>;
  }
).jobs;
const {test: gitlabJob} = parse(gitlab) as Record<
  string,
  {services: {name: string; alias: string}[]; variables: Variables}
>;
const composeFile = parse(compose) as {
  services: Record<
    string,
    {
      environment?: Variables;
      volumes?: string[];
      secrets?: string[];
      depends_on?: Record<string, {condition: string}>;
    }
  >;
  volumes: object;
  secrets: object;
};

const documented = environment.flatMap(([names]) => [...names.matchAll(/MEDIA_\w+/g)].map(([name]) => name));

describe('the recipes for media serve', () => {
  it.each([
    ['GitHub', {...githubJob?.services['media']?.env, ...githubJob?.env}],
    ['GitLab', gitlabJob?.variables ?? {}],
    ['docker compose', composeFile.services['media']?.environment ?? {}],
  ])('%s: sets only variables that there are, and the client has the key of the service', (_, variables) => {
    const names = Object.keys(variables);
    expect(names.length).toBeGreaterThan(2);
    expect(names.filter(name => !documented.includes(name))).toEqual([]);
    const {MEDIA_SERVE_KEY: key, MEDIA_API_KEY: presented} = variables as Variables;
    expect(presented).toBe(key);
  });

  it('GitHub: the port of the base URL is mapped', () => {
    const {ports = []} = githubJob?.services['media'] ?? {};
    expect(ports).toEqual([`${new URL(githubJob?.env['MEDIA_BASE_URL'] ?? '').port}:4010`]);
  });

  it(
    'GitLab: the alias is the host that is allowed; gitlab-ci-local finds the job',
    slowTest,
    async context => {
      const host = new URL(gitlabJob?.variables['MEDIA_BASE_URL'] ?? '').hostname;
      expect(gitlabJob?.services[0]?.alias).toBe(host);
      expect(await gitlabJobs(context, gitlab)).toEqual({jobs: ['test'], complaint: ''});
    },
  );

  it('docker compose: every volume, secret and service that is used is declared', () => {
    const {services, volumes, secrets} = composeFile;
    for (const service of Object.values(services)) {
      expect(Object.keys(volumes)).toEqual(
        expect.arrayContaining((service.volumes ?? []).map(volume => volume.split(':')[0])),
      );
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining(service.secrets ?? []));
      expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(service.depends_on ?? {})));
    }
    expect(services['media']?.environment?.['MEDIA_SERVE_KEY_FILE']).toBe('/run/secrets/media_key');
  });

  it('docker compose: docker-compose finds both services', slowTest, async context => {
    needPrograms(context, ['docker-compose']);
    const cwd = await temporaryDirectory();
    const {stdout} = await execa('docker-compose', ['--file', '-', 'config'], {cwd, input: compose});
    expect(Object.keys(parse(stdout).services)).toEqual(['app', 'media']);
  });

  it('the variables of GitLab: a service that responds for its alias, with URLs that begin with it', async () => {
    const box = await sandbox({...gitlabJob?.variables, MEDIA_SERVE_PORT: '0', MEDIA_SERVE_DATA_DIR: 'kept'});
    const {url} = await serve(box);
    const upload = await box.run(['upload', fixture('photo.png'), '--base-url', url, '--format', 'url']);
    expect(upload.stdout).toMatch(/^http:\/\/media:4010\/files\/m_\w+\n$/);
    const {socket, ended} = await rawConnection({url});
    const path = new URL(upload.stdout.trim()).pathname;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: media:4010\r\nConnection: close\r\n\r\n`);
    expect(await ended()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });
});
