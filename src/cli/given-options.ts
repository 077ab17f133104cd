import type {Command, Option} from 'commander';

/**
 * The options of a command line as they were typed, for commands in hints about the same service, profile and settings.
 * `omitted` names the attributes (`baseUrl`) of options to leave out.
 */
export function givenOptions(
  argv: readonly string[],
  command: Command,
  omitted: ReadonlySet<string> = new Set(),
): string[] {
  const known = [...command.options, ...(command.parent?.options ?? [])];
  const given: string[] = [];
  const words = argv[Symbol.iterator]();
  for (const word of words) {
    if (word === '--') break;
    if (word.length < 2 || !word.startsWith('-')) continue;
    for (const [option, text] of optionsIn(word, known)) {
      const value = option.required && text.value === undefined ? [words.next().value ?? ''] : [];
      if (!omitted.has(option.attributeName())) given.push(text.typed, ...value);
    }
  }
  return given;
}

/** The options in one word; a value that is not in it is the next word. */
function optionsIn(
  word: string,
  known: readonly Option[],
): [Option, {typed: string; value?: string | undefined}][] {
  if (word.startsWith('--')) {
    const [name = '', value] = word.split(/=(.*)/s, 2);
    const option = known.find(({long}) => long === name);
    return option === undefined ? [] : [[option, {typed: word, value}]];
  }
  const found: [Option, {typed: string; value?: string | undefined}][] = [];
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    const option = known.find(({short}) => short === name);
    if (option === undefined) break;
    const value = word.slice(at + 1);
    if (option.required && value !== '') return [...found, [option, {typed: `${name}${value}`, value}]];
    found.push([option, {typed: name}]);
  }
  return found;
}
