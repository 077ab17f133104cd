import type {Effects, State} from 'micromark-util-types';

/** Takes these characters, then goes on with `next`; with `nok` if others come. */
export function expectCodes(effects: Effects, characters: string, next: State, nok: State): State {
  if (characters === '') return next;
  return code => {
    if (code !== characters.charCodeAt(0)) return nok(code);
    effects.consume(code);
    return expectCodes(effects, characters.slice(1), next, nok);
  };
}
