import type {Code, Effects, Extension, State} from 'micromark-util-types';
import {expectCodes} from './expect-codes.ts';

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    wikiImage: 'wikiImage';
  }
}

const [exclamationMark, leftBracket, rightBracket] = [33, 91, 93];

/** Obsidian's embedded files, `![[photo.png|300]]`, as a syntax extension for micromark. */
export const wikiImages: Extension = {
  text: {[exclamationMark]: {name: 'wikiImage', tokenize: tokenizeWikiImage}},
};

/** Takes `![[`, at least one character but no bracket or line ending, and `]]`. */
function tokenizeWikiImage(effects: Effects, ok: State, nok: State): State {
  const close = expectCodes(effects, ']]', nok, code => {
    effects.exit('wikiImage');
    return ok(code);
  });
  // Takes the characters between the brackets.
  const text = (code: Code): State | undefined => {
    if (code === rightBracket) return close(code);
    // Negative codes are line endings and tabs.
    if (code === null || code === leftBracket || (code < 0 && code !== -2 && code !== -1)) return nok(code);
    effects.consume(code);
    return text;
  };
  const begin = (code: Code) => (code === rightBracket ? nok(code) : text(code));
  return code => {
    effects.enter('wikiImage');
    return expectCodes(effects, '![[', nok, begin)(code);
  };
}
