import {mkdir, stat, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {readJournals} from '../../src/journal/reader.ts';
import {bench, header, inputOf, lookup, noHash, sha256, upload} from '../support/journal.ts';

describe('a new journal', () => {
  it('begins with its version, and is for its owner alone', async () => {
    const one = await bench();
    await one.run(async () => {});
    expect(await one.text()).toBe(`${header}\n`);
    expect((await stat(one.path)).mode & 0o777).toBe(0o600);
  });

  it('in a directory that is not there: refused', async () => {
    const one = await bench();
    const missing = join(one.directory, 'missing', 'uploads.ndjson');
    await expect(one.run(async () => {}, missing)).rejects.toThrow(/does not exist/);
  });
});

describe('the lines', () => {
  it('tell of an upload from intent to done', async () => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a/cat.png', 'meow'), 'done', 'med_9'));
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const common = {idempotencyKey: key, at};
    expect(await one.lines()).toEqual([
      {
        ...common,
        event: 'intent',
        path: 'a/cat.png',
        size: 4,
        mtimeMs: 1_700_000_000_123,
        mtimeNs: '1700000000123456789',
        contentType: 'image/png',
      },
      {...common, event: 'commit', sha256: sha256('meow')},
      {...common, event: 'done', sha256: sha256('meow'), record: {id: 'med_9'}},
    ]);
  });

  it('hold a failure with its code and message', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png'), 'failed'));
    expect((await one.lines()).at(-1)).toMatchObject({
      event: 'failed',
      error: {code: 'rejected', message: 'the service refused it'},
    });
  });
});

describe('a record', () => {
  it.each([
    ['numbers past 2^53', '{"id":"a","size":9007199254740993123,"x":1.0}'],
    ['a member of that name within', '{"record":{"record":[1,{"record":"}"}]},"id":"a"}'],
    ['quotes and braces in strings', String.raw`{"id":"\"},{\\","urls":["{","}\\"]}`],
    ['line breaks outside strings', '{"id":"a",\n"size":12345678901234567890}'],
    ['separators and controls', '{"id":"\u2028\u0085\\u0000"}'],
  ])('with %s comes back as it was', async (_name, json) => {
    const one = await bench();
    const input = inputOf('a.png');
    await one.run(async journal => {
      const entry = await journal.begin(input, noHash);
      await entry.commit(sha256(input.content));
      await entry.done(json);
      entry.end();
      expect(await lookup(journal, input)).toMatchObject({
        status: 'done',
        recordJson: json.replace('\n', ' '),
      });
    });
    await one.run(async journal => {
      expect(await journal.lookup(input, noHash)).toMatchObject({recordJson: json.replace('\n', ' ')});
    });
  });
});

describe('what is no record', () => {
  it.each(['', '{"id":"a"', '[]', '"a"', '{"id":"a"}}'])('%j is never written', async json => {
    const one = await bench();
    await one.run(async journal => {
      const entry = await journal.begin(inputOf('a.png'), noHash);
      await entry.commit(sha256('content'));
      await expect(entry.done(json)).rejects.toThrow(/no line of a journal/);
      await entry.done('{"id":"a"}');
    });
    expect(await one.lines()).toHaveLength(3);
  });
});

describe('look-up', () => {
  it('of a path that was never begun: new', async () => {
    const one = await bench();
    await one.run(async journal => {
      expect(await journal.lookup(inputOf('a.png'), noHash)).toEqual({status: 'new'});
    });
  });

  it('same size and mtime: done, without reading the content', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png'), 'done', 'med_7'));
    await one.run(async journal => {
      expect(await journal.lookup(inputOf('a.png'), noHash)).toMatchObject({
        status: 'done',
        recordJson: '{"id":"med_7"}',
      });
    });
  });

  it.each([
    ['other mtime, same content: done', inputOf('a.png', 'content', 5n), 'done'],
    ['other mtime, other content of that size: new', inputOf('a.png', 'CONTENT', 5n), 'new'],
    ['other size: new', inputOf('a.png', 'contents'), 'new'],
    ['other path: new', inputOf('b.png'), 'new'],
  ])('%s', async (_name, input, status) => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png'), 'done'));
    await one.run(async journal => expect(await lookup(journal, input)).toMatchObject({status}));
  });

  it.each(['intent', 'failed'] as const)('after %s: new', async end => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png'), end));
    await one.run(async journal => expect(await lookup(journal, inputOf('a.png'))).toEqual({status: 'new'}));
  });

  it('after a commit without an end: unknown, whatever size and mtime are now', async () => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a.png'), 'commit'));
    await one.run(async journal => {
      for (const input of [inputOf('a.png'), inputOf('a.png', 'longer than before', 7n)]) {
        expect(await journal.lookup(input, noHash)).toEqual({status: 'unknown', idempotencyKey: key});
      }
    });
  });

  it('done with one content and unknown with another: done where the unknown may be sent again, else blocked', async () => {
    const one = await bench();
    const [first, second] = [inputOf('a.png', 'first'), inputOf('a.png', 'second')];
    await one.run(journal => upload(journal, first, 'done', 'med_1'));
    const key = await one.run(journal => upload(journal, second, 'commit'));
    await one.run(async journal => {
      expect(await lookup(journal, first)).toEqual({status: 'unknown', idempotencyKey: key});
      expect(await lookup(journal, first, true)).toMatchObject({
        status: 'done',
        recordJson: '{"id":"med_1"}',
      });
      expect(await lookup(journal, second, true)).toEqual({status: 'unknown', idempotencyKey: key});
    });
  });

  it('after a commit, a refusal and a second commit: unknown', async () => {
    const one = await bench();
    await one.run(async journal => {
      const entry = await journal.begin(inputOf('a.png'), noHash);
      await entry.commit(sha256('content'));
      await entry.failed({code: 'rate_limited', message: 'later'});
      await entry.commit(sha256('content'));
      entry.end();
      expect(await lookup(journal, inputOf('a.png'))).toMatchObject({status: 'unknown'});
    });
  });

  it('of an upload that is under way in this run: not unknown', async () => {
    const one = await bench();
    await one.run(async journal => {
      const entry = await journal.begin(inputOf('a.png'), noHash);
      await entry.commit(sha256('content'));
      expect(await lookup(journal, inputOf('a.png'))).toEqual({status: 'new'});
      entry.end();
      expect(await lookup(journal, inputOf('a.png'))).toMatchObject({status: 'unknown'});
    });
  });

  it('an older content of the path that comes back: done', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', 'first', 1n), 'done', 'med_1'));
    await one.run(journal => upload(journal, inputOf('a.png', 'other', 2n), 'done', 'med_2'));
    await one.run(async journal => {
      expect(await lookup(journal, inputOf('a.png', 'first', 3n))).toMatchObject({
        recordJson: '{"id":"med_1"}',
      });
    });
  });

  it('a second file of that path, size and mtime in one run is told by its content', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', 'one'), 'done'));
    await one.run(async journal => {
      expect(await lookup(journal, inputOf('a.png', 'one'))).toMatchObject({status: 'done'});
      expect(await lookup(journal, inputOf('a.png', 'two'))).toEqual({status: 'new'});
    });
  });

  it('one of two files of one path, size and mtime failed: it is not taken for the other', async () => {
    const one = await bench();
    await one.run(async journal => {
      await upload(journal, inputOf('a.png', 'one'), 'failed');
      await upload(journal, inputOf('a.png', 'two'), 'done');
    });
    await one.run(async journal => {
      expect(await lookup(journal, inputOf('a.png', 'one'))).toEqual({status: 'new'});
      expect(await lookup(journal, inputOf('a.png', 'two'))).toMatchObject({status: 'done'});
    });
  });

  it('two files of one path, size and mtime: each is told by its content', async () => {
    const one = await bench();
    await one.run(async journal => {
      await upload(journal, inputOf('a.png', 'one'), 'done', 'med_1');
      await upload(journal, inputOf('a.png', 'two'), 'done', 'med_2');
    });
    for (const [content, id] of [
      ['one', 'med_1'],
      ['two', 'med_2'],
    ]) {
      await one.run(async journal => {
        expect(await lookup(journal, inputOf('a.png', content))).toMatchObject({
          recordJson: `{"id":"${id}"}`,
        });
      });
    }
  });
});

describe('turns', () => {
  it('of one path come one after the other, in the order of asking; others do not wait', async () => {
    const one = await bench();
    await one.run(async journal => {
      const begun: string[] = [];
      const turns = ['a', 'b', 'a', 'a'].map(async (path, index) => {
        const end = await journal.turn(inputOf(path));
        begun.push(`${path}${index}`);
        return end;
      });
      await turns[1];
      expect(begun).toEqual(['a0', 'b1']);
      (await turns[0])?.();
      await turns[2];
      expect(begun).toEqual(['a0', 'b1', 'a2']);
      (await turns[2])?.();
      await turns[3];
      expect(begun).toEqual(['a0', 'b1', 'a2', 'a3']);
    });
  });
});

describe('the idempotency key', () => {
  const again = async (end: 'intent' | 'failed' | 'done' | 'commit', input: ReturnType<typeof inputOf>) => {
    const one = await bench();
    const first = await one.run(journal => upload(journal, inputOf('a.png'), end));
    const second = await one.run(journal => upload(journal, input, 'intent'));
    return {isSame: first === second, lines: await one.lines()};
  };

  it.each([
    ['intent, the same file: the same', 'intent', inputOf('a.png'), true],
    ['intent, another mtime: new', 'intent', inputOf('a.png', 'content', 1n), false],
    ['intent, another size: new', 'intent', inputOf('a.png', 'contents'), false],
    ['a refusal, the same file: new', 'failed', inputOf('a.png'), false],
    ['done, other content: new', 'done', inputOf('a.png', 'CONTENT', 1n), false],
    ['unknown, the same content sent again: the same', 'commit', inputOf('a.png', 'content', 1n), true],
    ['unknown, other content sent: new', 'commit', inputOf('a.png', 'CONTENT'), false],
  ] as const)('after %s', async (_name, end, input, isSame) => {
    expect((await again(end, input)).isSame).toBe(isSame);
  });

  it('sending other content settles what was unknown first', async () => {
    const {lines} = await again('commit', inputOf('a.png', 'CONTENT'));
    expect(lines.map(({event, as}) => as ?? event)).toEqual(['intent', 'commit', 'resend', 'intent']);
  });

  it('an unknown that other content set aside stays in doubt, under its key, whatever becomes of later tries', async () => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a.png'), 'commit'));
    await one.run(journal => upload(journal, inputOf('a.png', 'CONTENT'), 'done'));
    for (let run = 0; run < 3; run += 1) {
      await one.run(async journal => {
        const input = inputOf('a.png');
        const entry = await journal.begin(input, async () => sha256(input.content));
        expect([entry.idempotencyKey, entry.inDoubt]).toEqual([key, true]);
        if (run === 1) await entry.commit(sha256(input.content));
        entry.end();
      });
    }
  });

  it('an unknown that is sent again stays unknown, under one key, until it is done', async () => {
    const one = await bench();
    const keys = new Set<string>();
    for (const end of ['commit', 'intent', 'commit', 'intent', 'done'] as const) {
      await one.run(async journal => {
        if (keys.size > 0) expect(await lookup(journal, inputOf('a.png'))).toMatchObject({status: 'unknown'});
        keys.add(await upload(journal, inputOf('a.png'), end));
      });
    }
    expect(keys.size).toBe(1);
    await one.run(async journal => {
      expect(await lookup(journal, inputOf('a.png'))).toMatchObject({status: 'done'});
    });
  });

  it('is not shared by two inputs of one path that are under way', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png'), 'intent'));
    await one.run(async journal => {
      const entries = await Promise.all([1, 2, 3].map(() => journal.begin(inputOf('a.png'), noHash)));
      expect(new Set(entries.map(entry => entry.idempotencyKey)).size).toBe(3);
    });
  });
});

describe('settling an unknown', () => {
  const settled = async (settlement: {uploaded: string} | 'resend') => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a.png'), 'commit'));
    await one.run(async journal => {
      const [entry] = journal.unknownsOf('a.png');
      if (entry !== undefined) await journal.settle(entry, settlement);
    });
    return {one, key};
  };

  it('as uploaded: done with a record of that ID, for that content alone', async () => {
    const {one} = await settled({uploaded: 'med "5"'});
    await one.run(async journal => {
      expect(await lookup(journal, inputOf('a.png', 'content', 1n))).toMatchObject({
        status: 'done',
        recordJson: String.raw`{"id":"med \"5\""}`,
      });
      expect(await lookup(journal, inputOf('a.png', 'CONTENT', 1n))).toEqual({status: 'new'});
    });
  });

  it('to be sent again: new, under the same key, even after another crash', async () => {
    const {one, key} = await settled('resend');
    for (const end of ['intent', 'commit'] as const) {
      const input = inputOf('a.png', 'content', 9n);
      await one.run(async journal => {
        expect(await lookup(journal, input)).toEqual({status: 'new'});
        expect(await upload(journal, input, end)).toBe(key);
      });
    }
  });
});

describe('a path that is not UTF-8', () => {
  it('is told by its bytes', async () => {
    const one = await bench();
    const path = Buffer.from([0x61, 0xff, 0x2f, 0xe9, 0x0a]);
    await one.run(journal => upload(journal, inputOf(path), 'done'));
    expect((await one.lines())[0]).toMatchObject({
      path: 'a\ufffd/\ufffd\n',
      pathBase64: path.toString('base64'),
    });
    await one.run(async journal => {
      expect(await journal.lookup(inputOf(path), noHash)).toMatchObject({status: 'done'});
      for (const other of ['a\ufffd/\ufffd\n', 'aÿ/é\n', Buffer.from([0x61, 0xfe])]) {
        expect(await lookup(journal, inputOf(other))).toEqual({status: 'new'});
      }
    });
  });

  it.each(['ü/日本.png', 'line\nbreak "quoted" \\ .png', '\u2028'])(
    '%j is, and its bytes mean the same',
    async path => {
      const one = await bench();
      await one.run(journal => upload(journal, inputOf(path), 'done'));
      expect((await one.lines())[0]).toMatchObject({path});
      expect((await one.lines())[0]).not.toHaveProperty('pathBase64');
      await one.run(async journal => {
        expect(await journal.lookup(inputOf(Buffer.from(path)), noHash)).toMatchObject({status: 'done'});
      });
    },
  );
});

describe('a file that cannot be a journal', () => {
  it.each([
    ['a photograph', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', /is not a journal of media\./],
    ['a text', 'hello', /is not a journal of media\./],
    ['another NDJSON', '{"event":"done"}\n', /is not a journal of media\./],
    ['an empty first line', `\n${header}\n`, /is not a journal of media\./],
    [
      'a later version',
      '{"journal":"media","version":3,"service":"https://media.example"}\n',
      /version 3, and this media knows only version 2\./,
    ],
    [
      'the first version, which knew no service',
      '{"journal":"media","version":1}\n',
      /version 1, and this media knows only version 2\./,
    ],
    ['no service', '{"journal":"media","version":2}\n', /names no service/],
    ['no version', '{"journal":"media"}\n', /version undefined/],
  ])('%s: refused and left as it is', async (_name, text, message) => {
    const one = await bench();
    await one.write(text);
    await expect(one.run(async () => {})).rejects.toThrow(message);
    await expect(readJournals([one.path], '/')).rejects.toThrow(message);
    expect(await one.text()).toBe(text);
  });

  it('a symbolic link, a directory: refused', async () => {
    const one = await bench();
    await one.write('', join(one.directory, 'real'));
    await symlink('real', one.path);
    await expect(one.run(async () => {})).rejects.toThrow(/is a symbolic link, so it is not a journal\./);
    await mkdir(join(one.directory, 'folder'));
    await expect(one.run(async () => {}, join(one.directory, 'folder'))).rejects.toThrow(/is a directory/);
    expect(await one.text(join(one.directory, 'real'))).toBe('');
  });

  it('a FIFO: refused, without waiting for somebody to write to it', async () => {
    const one = await bench();
    await execa('mkfifo', [one.path]);
    await expect(one.run(async () => {})).rejects.toThrow(/is no regular file/);
    await expect(readJournals([one.path], '/')).rejects.toThrow(/is no regular file/);
  });
});
