import {describe, expect, it} from 'vitest';
import {sandboxFor} from '../../../engine/service/program.ts';
import {sinkServer, writePng} from '../../../engine/service/support.ts';

const kibibyte = 1024;

// Only lower bounds: a busy machine makes everything slower and nothing faster. A tenth of a second is free at first.
describe('media upload --limit-rate', () => {
  it('one file of 300 KiB at 200K: the client reports at least the time that takes', async () => {
    const sink = await sinkServer();
    const machine = await sandboxFor(sink.url);
    await writePng(machine.directory, 'a.png', 300 * kibibyte);
    const {stdout, exitCode} = await machine.run(['upload', 'a.png', '--limit-rate', '200K', '--ndjson']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).elapsedMs).toBeGreaterThanOrEqual(1_400);
    expect(sink.requests.map(({bodyBytes}) => bodyBytes)).toEqual([300 * kibibyte]);
  });

  it('four files of 100 KiB at once: the limit is for all of them together', async () => {
    const sink = await sinkServer();
    const machine = await sandboxFor(sink.url);
    const names = ['a', 'b', 'c', 'd'].map(name => `${name}.png`);
    for (const name of names) await writePng(machine.directory, name, 100 * kibibyte);
    const start = performance.now();
    const {exitCode} = await machine.run(['upload', ...names, '-c', '4', '--limit-rate', '200K']);
    expect(exitCode).toBe(0);
    expect(performance.now() - start).toBeGreaterThanOrEqual(1_900);
    expect(sink.requests.map(({bodyBytes}) => bodyBytes)).toEqual(names.map(() => 100 * kibibyte));
  });

  it('an interrupt ends the wait for the next bytes', async () => {
    let onFirst = () => {};
    const first = new Promise<void>(resolve => {
      onFirst = resolve;
    });
    const sink = await sinkServer();
    sink.server.once('connection', socket => socket.once('data', () => onFirst()));
    const machine = await sandboxFor(sink.url);
    await writePng(machine.directory, 'a.png', 300 * kibibyte);
    // At this rate the whole file takes five minutes.
    const client = machine.start(['upload', 'a.png', '--limit-rate', '1K', '--json']);
    await first;
    client.kill('SIGINT');
    const {signal, stdout} = await client;
    expect({signal, stdout}).toEqual({signal: 'SIGINT', stdout: ''});
    expect(sink.requests).toHaveLength(1);
    expect(sink.requests[0]?.bodyBytes).toBeLessThan(300 * kibibyte);
  });
});
