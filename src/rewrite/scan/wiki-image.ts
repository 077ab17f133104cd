import type {Code, Effects, Extension, State} from 'micromark-util-types';

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    yamlValue: 'yamlValue';
    tomlValue: 'tomlValue';
    wikiImage: 'wikiImage';
  }
}

const [exclamationMark, leftBracket, rightBracket] = [33, 91, 93];

/** Obsidian's embedded files, `![[photo.png|300]]`, as a syntax extension for micromark. */
export const wikiImages: Extension = {
  text: {[exclamationMark]: {name: 'wikiImage', tokenize: tokenizeWikiImage}},
};

function tokenizeWikiImage(effects: Effects, ok: State, nok: State): State {
  /** Takes these characters, then goes on with `next`. */
  const expect = ([first, ...others]: readonly number[], next: State): State => {
    if (first === undefined) return next;
    return code => {
      if (code !== first) return nok(code);
      effects.consume(code);
      return expect(others, next);
    };
  };
  const close = expect([rightBracket, rightBracket], code => {
    effects.exit('wikiImage');
    return ok(code);
  });
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
    return expect([exclamationMark, leftBracket, leftBracket], begin)(code);
  };
}
