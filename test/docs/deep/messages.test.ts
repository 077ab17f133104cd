import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import ts from 'typescript';
import {describe, expect, it} from 'vitest';
import {complaint, everyCommand, fullName, options} from '../command-lines.ts';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

/** Every text in the source but those of imports; X stands for what is put in. */
const texts = readdirSync(source, {recursive: true, encoding: 'utf8'})
  .filter(file => file.endsWith('.ts') && !file.startsWith('embedded/'))
  .flatMap(file => textsOf(file, readFileSync(join(source, file), 'utf8')));

interface Text {
  file: string;
  text: string;
  /** Whether it is, or is chosen from for, the `hint` of an error. */
  isHint: boolean;
}

function textsOf(file: string, code: string): Text[] {
  const found: Text[] = [];
  const visit = (node: ts.Node, isHint = false): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node)) found.push({file, text: node.text, isHint});
    if (ts.isTemplateExpression(node)) {
      const rest = node.templateSpans.map(({literal}) => `X${literal.text}`);
      found.push({file, text: `${node.head.text}${rest.join('')}`, isHint});
    }
    const begins = ts.isPropertyAssignment(node) && node.name.getText() === 'hint';
    const goesOn = isHint && (ts.isConditionalExpression(node) || ts.isBinaryExpression(node));
    const isTagged = ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'hint';
    ts.forEachChild(node, child => visit(child, begins || goesOn || isTagged));
  };
  visit(ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true));
  return found;
}

/** Words that follow `media` in sentences which name no command. */
const prose = ['command', 'reads', 'service', 'that'];

describe('what messages and hints tell the user to type', () => {
  it('names commands and subcommands that exist', () => {
    const names = everyCommand.map(fullName);
    const wrong = texts.flatMap(({file, text}) =>
      [...text.matchAll(/\bmedia ([a-z]+)(?: ([a-z]+)\b)?/g)]
        .filter(([, word = '']) => !prose.includes(word))
        .filter(([, word, next]) => {
          const command = everyCommand.find(candidate => fullName(candidate) === `media ${word}`);
          if (command === undefined) return true;
          return command.commands.length > 0 && !names.includes(`media ${word} ${next}`);
        })
        .map(() => ({file, text})),
    );
    expect(wrong).toEqual([]);
    expect(texts.filter(({text}) => /\bmedia login\b/.test(text)).length).toBeGreaterThan(5);
  });

  it('names options that exist', () => {
    const named = texts.flatMap(({file, text}) =>
      [...text.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*/g)].map(([option]) => ({file, option})),
    );
    const foreign = ['--help', '--disable-wasm-trap-handler']; // The second is one of Node, in NODE_OPTIONS.
    expect(named.filter(({option}) => !foreign.includes(option) && !options.has(option))).toEqual([]);
    expect(named.length).toBeGreaterThan(50);
  });

  it('has references to options in the rooms of the engine and the library, no option as text', () => {
    const rooms = /^(?:engine|media|documents|lib|library|errors\.ts|hint\.ts)\b/;
    const ofEngine = texts.filter(({file}) => rooms.test(file));
    expect(ofEngine.length).toBeGreaterThan(1000);
    const named = ofEngine.filter(({text}) => /(?<!NODE_OPTIONS=)--[a-z]/.test(text));
    // The commands of journals are the same for both.
    expect(named.filter(({text}) => !text.includes('media journal resolve'))).toEqual([]);
  });

  it('ends with whole commands that commander takes', async () => {
    const commands = texts.flatMap(({text}) => commandsAtEnd(text));
    expect(commands.length).toBeGreaterThan(20);
    expect(await complaintsAbout(commands)).toEqual([]);
  });

  it('names every command at the end of a hint, after a colon: so that it can be pasted', async () => {
    const hints = texts.filter(({isHint, text}) => isHint && namesCommand(text));
    expect(hints.length).toBeGreaterThan(10);
    expect(hints.filter(({text}) => commandsAtEnd(text).length === 0)).toEqual([]);
  });
});

/** Whether a text says to type a command of ours; `media journal list lists all` and the like say what one does. */
function namesCommand(text: string): boolean {
  const names = everyCommand.map(command => command.name()).join('|');
  return new RegExp(`\\bmedia (${names})\\b(?! lists)`).test(text);
}

/** The command that a text ends with; a variable part that follows a word at once stands for options. */
function commandsAtEnd(text: string): string[] {
  const [, command] = /(?:: |as in )(media (?!X)[^:]+?)(?: \(.*\))?$/.exec(text) ?? [];
  // An address that is yet to be put in stands at the end of a sentence.
  return command === undefined ? [] : [command.replace(/(?<=[a-z-])X/g, '').replace(/\.$/, '')];
}

async function complaintsAbout(commands: readonly string[]) {
  const judged = await Promise.all(
    commands.map(async command => ({command, complaint: await complaint(command)})),
  );
  return judged.filter(({complaint: found}) => found !== undefined);
}
