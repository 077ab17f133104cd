import {describe} from 'vitest';
import {inHandsOfOthers, refusedOfJournal, refusedOfOnce} from '../hands-of-others.ts';

const directories = [
  ['its directory', '.'],
  ['the directory above that', '..'],
] as const;
const {'that anybody may change': anybody, ...others} = inHandsOfOthers;

describe('a journal that anybody may change', () => refusedOfOnce(anybody, directories));

describe.each(Object.entries(others))('a journal %s', (_name, hands) => {
  refusedOfOnce(hands, [['its file'], ...directories]);
  refusedOfJournal(hands);
});
