import {describe, expect, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import {parseContentType} from '../../../src/media/type/decide.ts';
import {inWords} from '../../support/hints.ts';

describe('--content-type takes', () => {
  test.each([
    ['image/png', 'image/png'],
    ['IMAGE/PNG', 'image/png'],
    [' video/mp4 ', 'video/mp4'],
    ['image/svg+xml', 'image/svg+xml'],
    ['video/vnd.dlna.mpeg-tts', 'video/vnd.dlna.mpeg-tts'],
    ['image/svg+xml;charset=utf-8', 'image/svg+xml; charset=utf-8'],
    ['image/svg+xml \t; Charset=UTF-8', 'image/svg+xml; charset=UTF-8'],
    ['video/mp4; codecs="avc1.64001F, mp4a.40.2"', 'video/mp4; codecs="avc1.64001F, mp4a.40.2"'],
    ['video/mp4; a="say \\"hi\\""; b=c', 'video/mp4; a="say \\"hi\\""; b=c'],
    ['video/mp4; a=""', 'video/mp4; a=""'],
    ['image/png;', 'image/png'],
    ['image/png; ; a=b;', 'image/png; a=b'],
  ])('%j as %j', (value, parsed) => {
    expect(parseContentType(value)).toBe(parsed);
  });
});

describe('--content-type refuses', () => {
  test.each([
    '',
    ' ',
    'image',
    'image/',
    '/png',
    'image/*',
    'image/p*g',
    '*/*',
    'text/html',
    'audio/mp4',
    'application/pdf',
    'imagex/png',
    'image/png/x',
    'image /png',
    'image/ png',
    'image/p ng',
    'image/png, image/gif',
    'image/png; charset',
    'image/png; charset=',
    'image/png; charset = utf-8',
    'image/png; =utf-8',
    'image/png; a="open',
    'image/png; a="b"c',
    'image/png; a=b c',
    'image/png\r\nX-Injected: 1',
    'image/png; a="\r\nX-Injected: 1"',
    'image/png; a="\u0000"',
    'image/pñg',
    'image/png; a="ñ"',
    `image/png${'; a=b'.repeat(20_000)} !`,
  ])('%.60j', value => {
    const error = inWords(catchError(() => parseContentType(value)));
    expect(error).toBeInstanceOf(MediaError);
    expect(error).toMatchObject({code: 'usage', hint: expect.stringContaining('image/png')});
    expect((error as MediaError).message).not.toMatch(/\p{C}/u);
  });
});

function catchError(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}
