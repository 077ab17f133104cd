import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A fenced block of code in a Markdown file. */
export interface Example {
  /** The file's path in the project. */
  file: string;
  /** The line of the opening fence, counted from 1. */
  line: number;
  /** The language after the opening fence; '' if there is none. */
  language: string;
  code: string;
}

/** The paths of all Markdown files of the project, new ones included. */
export function markdownFiles(): string[] {
  const tracked = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '--', '*.md'];
  return execFileSync('git', tracked, {cwd: root, encoding: 'utf8'}).trimEnd().split('\n').sort();
}

/** The text of a page of the project, or of a file that a page names. */
export function markdown(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** All fenced blocks of a Markdown file, in their order. */
export function examplesIn(file: string): Example[] {
  const text = markdown(file);
  return [...text.matchAll(/^( *)(```+|~~~+)(.*)\n([\s\S]*?)^\1\2$/gm)].map(match => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    language: match[3]?.trim() ?? '',
    code: match[4] ?? '',
  }));
}

/** A Markdown text without its fenced blocks. */
export function withoutBlocks(text: string): string {
  return text.replace(/^( *)(```+|~~~+).*\n[\s\S]*?^\1\2$/gm, '');
}

/** The inline code of a Markdown text: what is between single backquotes, outside its fenced blocks. */
export function inlineCodeOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/`([^`\n]*)`/g)].map(([, code = '']) => code);
}

/** The code of the only block of this file in this language that contains this text. */
export function example(file: string, language: string, text = ''): string {
  const found = examplesIn(file).filter(block => block.language === language && block.code.includes(text));
  if (found.length !== 1) throw new Error(`${file} has ${found.length} ${language} blocks with "${text}".`);
  return found[0]?.code ?? '';
}
