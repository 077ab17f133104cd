import {htmlFlow, definition as linkDefinition} from 'micromark-core-commonmark';
import {gfm} from 'micromark-extension-gfm';
import type {Construct, Effects, Extension, State, Tokenizer} from 'micromark-util-types';
import {literal} from './expect-codes.ts';

/** Admonitions, details and tabs, as Python-Markdown and its extensions match them. */
const firstLine =
  /^(?:!!! ?[\p{L}\p{N}_-]+(?: +[\p{L}\p{N}_-]+)*(?: +".*?")?|\?\?\?\+? ?(?:[\p{L}\p{N}_-]+(?: +[\p{L}\p{N}_-]+)*(?: +".*?")?|".*?")|===[+!]{0,2} +".*?") *$/u;
/** A tag whose element has Markdown in it, or a line that is whole HTML: behind it, Markdown needs no empty line. */
const aroundMarkdown =
  /^<(?:\w[^>]*\smarkdown(?=[\s=>])|(?:\/[\w-]+|(?:a|br|hr|img|span)\b[^>]*|(?!pre|script|style|textarea)([\w-]+)(?:\s[^>]*)?>[^<[]*<\/\1)>\s*$)/i;

/** Takes the rest of a line that matches. */
function lineLike(pattern: RegExp): Tokenizer {
  return (effects, ok, nok) => {
    let line = '';
    // Collects the characters of the line, and judges it at its end.
    const within: State = code => {
      // Line endings; -2 and -1 are a tab.
      if (code !== null && code >= -2) {
        line += code < 0 ? ' ' : String.fromCharCode(code);
        effects.consume(code);
        return within;
      }
      effects.exit('data');
      return pattern.test(line) ? ok(code) : nok(code);
    };
    return code => {
      effects.enter('data');
      return within(code);
    };
  };
}

const [footnote] = [gfm().document?.['91']].flat();

/** Like the definition of a footnote, a block goes on with empty lines and those indented by four spaces. */
function block(name: string, begin: Tokenizer): Construct {
  return {
    ...footnote,
    name,
    continuation: {
      // Called at the start of each further line: whether the block goes on.
      tokenize(effects, ok, nok): State {
        const next = footnote?.continuation?.tokenize.call(this, effects, ok, nok) ?? nok;
        // The continuation of a footnote would take the indent of the enclosing block for its own.
        return code => (code === null || code <= 32 ? next(code) : nok(code));
      },
    },
    // Called where the block may begin: opens a container as a footnote's definition does.
    tokenize(effects, ok, nok): State {
      const start = begin.call(this, effects, ok, nok);
      return code => {
        effects.enter('gfmFootnoteDefinition')._container = true;
        return start(code);
      };
    },
  };
}

const titledBlock = block('titledBlock', lineLike(firstLine));
const definition = block('definition', function (effects, ok, nok) {
  const begin = literal(': ').call(this, effects, ok, nok);
  return code => {
    // In a list, Python-Markdown takes further paragraphs of a definition for code.
    // The block itself is open already.
    let closed = 1;
    const around = this.events.findLast(([event, {type}]) => {
      if (!/^list(?:Un)?[oO]rdered$|^gfmFootnoteDefinition$/.test(type)) return false;
      closed += event === 'exit' ? 1 : -1;
      return closed < 0;
    });
    return around?.[1].type.startsWith('list') ? nok(code) : begin(code);
  };
});

/** HTML that ends with the line in which its element does; behind it, Markdown needs no empty line. */
const html: Construct = {
  ...htmlFlow,
  name: 'html',
  // As HTML of CommonMark, but counts the open tags of the first element, and ends with the line in which that ends.
  tokenize(effects, ok, nok): State {
    let line = '';
    let name: string | undefined;
    let depth = 0;
    const watched: Effects = {
      ...effects,
      consume: code => {
        line += String.fromCharCode(Math.max(32, code ?? 0));
        effects.consume(code);
      },
      // The first check behind a line of an element is whether the next one is empty, which ends the HTML.
      check: (construct, end, next) => {
        // The four elements contain no HTML.
        name ??= /^<(?!(?:pre|script|style|textarea)\b)([a-z][\w-]*)/i.exec(line)?.[1]?.toLowerCase() ?? '';
        for (const [, slash, tag] of line.matchAll(/<(\/?)([a-z][\w-]*)/gi))
          if (tag?.toLowerCase() === name) depth += slash === '' ? 1 : -1;
        line = '';
        const isClosed = name !== '' && depth <= 0;
        return code => (isClosed && code !== null ? end : effects.check(construct, end, next))(code);
      },
    };
    const hasMarkdown = {partial: true, tokenize: lineLike(aroundMarkdown)};
    return effects.check(hasMarkdown, nok, htmlFlow.tokenize.call(this, watched, ok, nok));
  },
};

/** A syntax extension for micromark: Markdown as MkDocs has it, with Material's extensions. */
export const mkdocs: Extension = {
  disable: {null: ['htmlFlow']},
  document: {33: titledBlock, 58: definition, 61: titledBlock, 63: titledBlock},
  // Python-Markdown takes a definition also in a paragraph.
  flow: {60: html, 91: linkDefinition},
};
