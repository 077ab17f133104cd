import {type AST, getStaticTOMLValue, parseTOML, traverseNodes} from 'toml-eslint-parser';
import {Composer, isPair, isScalar, Lexer, Parser, visit} from 'yaml';
import type {Reference} from './reference.ts';

/** Levels of YAML, and brackets of TOML: the parsers call themselves, and so many never exhaust the stack. */
const deepestNesting = 100;
const mostBrackets = 2_000;

/** Text in front matter, with the keys that lead to it, the innermost first. */
type TextValue = Pick<Reference, 'start' | 'end' | 'target' | 'context'> & {path: string[]};

/**
 * The values of these keys in the front matter of a document: text, lists of text and, in maps and lists of maps, what
 * is named like an image or a video. Text that cannot be written back exactly, such as several lines without quotes, is
 * left out. There are none if the front matter is not valid: `badFrontMatter` then says why.
 */
export function readFrontMatter(
  head: string,
  keys: readonly string[],
): {references: Reference[]; badFrontMatter?: string} {
  const format = head.startsWith('---') ? 'YAML' : 'TOML';
  const start = head.search(/[\r\n]/);
  const end = head.trimEnd().length - '---'.length;
  // To these parsers, a single carriage return ends no line.
  const text = head
    .slice(start, end)
    .replace(/(?:\r\n|[\r\n])$/, '')
    .replace(/\r(?!\n)/g, '\n');
  try {
    const values = format === 'YAML' ? yamlTexts(text) : tomlTexts(text);
    const matching = values.filter(({path}) => path.some(key => keys.includes(key)));
    const references = matching.map(({path, ...value}) => {
      const place = {start: start + value.start, end: start + value.end};
      const source = head.slice(place.start, place.end);
      return {...value, ...place, source, onlyMedia: !keys.includes(path[0] ?? '')};
    });
    return {references};
  } catch (error) {
    if (!(error instanceof SyntaxError && 'index' in error)) throw error;
    const lines = head.slice(0, start + Number(error.index)).split(/\r\n|\r|\n/);
    const place = `${lines.length}:${(lines.at(-1) ?? '').length + 1}`;
    return {references: [], badFrontMatter: `not valid ${format}: ${place}: ${error.message}`};
  }
}

/** The texts that can be written back exactly; throws a SyntaxError with an `index` for invalid YAML. */
function yamlTexts(text: string): TextValue[] {
  const options = {uniqueKeys: false, prettyErrors: false};
  const [document, another] = new Composer(options).compose(yamlTokens(text));
  for (const {message, pos} of document?.errors ?? []) throw invalid(message, pos[0]);
  if (another !== undefined) throw invalid('Another document begins', another.range[0]);
  const found: TextValue[] = [];
  visit(document ?? null, {
    // Called for each value that is neither a list nor a map: keeps a string whose text in the file is its value.
    Scalar(position, {type = '', value, tag = 'tag:yaml.org,2002:str', range}, ancestors) {
      if (position === 'key' || typeof value !== 'string' || tag !== 'tag:yaml.org,2002:str') return;
      const keys = ancestors.filter(isPair).map(({key}) => (isScalar(key) ? String(key.value) : ''));
      const sourceText = text.slice(...(range ?? []).slice(0, 2));
      const isBlock = type.startsWith('BLOCK');
      const isQuoted = type.startsWith('QUOTE');
      const content = isQuoted
        ? sourceText.slice(1, -1)
        : sourceText.slice(isBlock ? sourceText.indexOf('\n') : 0).trim();
      const target = isQuoted ? value : value.trim();
      if (!isQuoted && content !== target) return;
      const start = (range?.[0] ?? 0) + (isQuoted ? 1 : sourceText.lastIndexOf(content));
      const context = type === 'PLAIN' ? 'plain' : 'quoted';
      found.push({start, end: start + content.length, target, context, path: keys.reverse()});
    },
  });
  return found;
}

/** Parses YAML; throws before its levels would exhaust the stack of the composer. */
function* yamlTokens(text: string): ReturnType<Parser['parse']> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > deepestNesting)
      throw invalid(`It has more than ${deepestNesting} levels`, parser.offset);
  }
  yield* parser.end();
}

/** The strings with their keys; throws a SyntaxError with an `index` for invalid TOML, as its parser does. */
function tomlTexts(text: string): TextValue[] {
  const bracket = [...text.matchAll(/[[{]/g)][mostBrackets];
  if (bracket !== undefined) throw invalid(`It has more than ${mostBrackets} brackets`, bracket.index);
  const found: TextValue[] = [];
  traverseNodes(parseTOML(text), {
    // Called for each node of the tree: keeps a string with the keys of all nodes around it.
    enterNode(node) {
      if (node.type !== 'TOMLValue' || node.kind !== 'string') return;
      const quote = node.multiline ? 3 : 1;
      const place = {start: node.range[0] + quote, end: node.range[1] - quote};
      const path: string[] = [];
      for (let at: AST.TOMLNode | null = node; at !== null; at = at.parent)
        if ('key' in at) path.push(...getStaticTOMLValue(at.key).reverse());
      found.push({...place, target: node.value, context: 'quoted', path});
    },
    leaveNode() {},
  });
  return found;
}

/** An error like those of the TOML parser: `readFrontMatter` finds the line by its `index`. */
function invalid(reason: string, index: number): SyntaxError {
  return Object.assign(new SyntaxError(reason), {index});
}
