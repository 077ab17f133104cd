import {readFile} from 'node:fs/promises';
import ts from 'typescript';
import type {Row} from './reference.ts';

/** The files that declare the interfaces of the library that docs/library.md has tables of. */
const declarations = [
  ...['src/library/upload-all.ts', 'src/library/media-client.ts', 'src/library/sources.ts'],
  ...['src/engine/transfer/transfer-options.ts', 'src/engine/transfer/outcome.ts'],
];

/** The members of interfaces of the library, by the name of the interface: each with its signature and its docstring. */
export async function libraryReference(root: URL): Promise<(name: string) => readonly Row[]> {
  const interfaces = new Map<string, ts.InterfaceDeclaration>();
  for (const path of declarations) {
    const text = await readFile(new URL(path, root), 'utf8');
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    for (const node of source.statements.filter(ts.isInterfaceDeclaration))
      interfaces.set(node.name.text, node);
  }
  return name => {
    const declaration = interfaces.get(name);
    if (declaration === undefined) throw new Error(`There is no interface ${name} to make a table of.`);
    return rowsOf(declaration);
  };
}

function rowsOf(declaration: ts.InterfaceDeclaration): Row[] {
  const source = declaration.getSourceFile();
  return declaration.members.map(member => {
    const meaning = ts
      .getJSDocCommentsAndTags(member)
      .map(({comment}) => ts.getTextOfJSDocComment(comment) ?? '')
      .join(' ')
      .replace(/\s+/g, ' ');
    if (meaning === '') throw new Error(`${declaration.name.text} has a member without a docstring.`);
    if (ts.isMethodSignature(member)) {
      const names = member.parameters.map(({name}) => name.getText(source)).join(', ');
      return [`\`${member.name.getText(source)}(${names})\``, meaning];
    }
    if (!ts.isPropertySignature(member))
      throw new Error(`${declaration.name.text} has an unexpected member.`);
    const signature = `${member.name.getText(source)}: ${member.type?.getText(source).replace(/\s+/g, ' ')}`;
    return [`\`${signature.replaceAll('|', '\\|')}\``, meaning];
  });
}
