import {readFile} from 'node:fs/promises';
import ts from 'typescript';
import type {Row} from './reference.ts';

/** The options of `uploadAll`, each with its docstring. */
export async function uploadAllOptions(root: URL): Promise<readonly Row[]> {
  const text = await readFile(new URL('src/library/upload-all.ts', root), 'utf8');
  const source = ts.createSourceFile('upload-all.ts', text, ts.ScriptTarget.Latest, true);
  const declaration = source.statements
    .filter(ts.isInterfaceDeclaration)
    .find(({name}) => name.text === 'UploadOptions');
  return (declaration?.members ?? []).map(member => {
    const meaning = ts
      .getJSDocCommentsAndTags(member)
      .map(({comment}) => ts.getTextOfJSDocComment(comment) ?? '')
      .join(' ')
      .replace(/\s+/g, ' ');
    if (meaning === '') throw new Error('UploadOptions has a member without a docstring.');
    return [`\`${member.name?.getText(source)}\``, meaning];
  });
}
