import type {Effects, State, Tokenizer} from 'micromark-util-types';

/** Takes these characters, then goes on with `next`; with `nok` if others come. */
export function expectCodes(effects: Effects, characters: string, nok: State, next: State): State {
  if (characters === '') return next;
  return code => {
    if (code !== characters.charCodeAt(0)) return nok(code);
    effects.consume(code);
    return expectCodes(effects, characters.slice(1), nok, next);
  };
}

/** Tokenizes these characters as data. */
export function literal(characters: string): Tokenizer {
  return (effects, ok, nok) => code => {
    const end: State = next => {
      effects.exit('data');
      return ok(next);
    };
    effects.enter('data');
    return expectCodes(effects, characters, nok, end)(code);
  };
}
