import mimeTypes from 'mime-types';
import {expect, test} from 'vitest';
import {commonTypes} from '../../../src/media/type/tables/type-tables.ts';

test.each([...commonTypes])('.%s: the type that mime-types gives it', (extension, type) => {
  expect(mimeTypes.lookup(extension)).toBe(type);
});
