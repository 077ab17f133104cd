import type {Code, Effects, Extension, State, TokenizeContext} from 'micromark-util-types';

declare module 'micromark-util-types' {
  interface TokenTypeMap {
    yamlValue: 'yamlValue';
    tomlValue: 'tomlValue';
    wikiImage: 'wikiImage';
    wikiImageMarker: 'wikiImageMarker';
    wikiImageText: 'wikiImageText';
  }
}

const [exclamationMark, leftBracket, rightBracket] = [33, 91, 93];

/** Obsidian's embedded files, `![[photo.png|300]]`, as a syntax extension for micromark. */
export const wikiImages: Extension = {
  text: {[exclamationMark]: {name: 'wikiImage', tokenize: tokenizeWikiImage}},
};

function tokenizeWikiImage(this: TokenizeContext, effects: Effects, ok: State, nok: State): State {
  return start;

  function start(code: Code): State {
    effects.enter('wikiImage');
    effects.enter('wikiImageMarker');
    effects.consume(code);
    return firstBracket;
  }

  function firstBracket(code: Code): State | undefined {
    if (code !== leftBracket) return nok(code);
    effects.consume(code);
    return secondBracket;
  }

  function secondBracket(code: Code): State | undefined {
    if (code !== leftBracket) return nok(code);
    effects.consume(code);
    effects.exit('wikiImageMarker');
    return begin;
  }

  function begin(code: Code): State | undefined {
    if (code === rightBracket) return nok(code);
    effects.enter('wikiImageText');
    return text(code);
  }

  function text(code: Code): State | undefined {
    // Negative codes are line endings and tabs.
    if (code === null || code === leftBracket || (code < 0 && code !== -2 && code !== -1)) return nok(code);
    if (code !== rightBracket) {
      effects.consume(code);
      return text;
    }
    effects.exit('wikiImageText');
    effects.enter('wikiImageMarker');
    effects.consume(code);
    return lastBracket;
  }

  function lastBracket(code: Code): State | undefined {
    if (code !== rightBracket) return nok(code);
    effects.consume(code);
    effects.exit('wikiImageMarker');
    effects.exit('wikiImage');
    return ok;
  }
}
