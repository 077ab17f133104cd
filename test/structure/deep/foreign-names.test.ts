import {fileURLToPath} from 'node:url';
import ts from 'typescript';
import {expect, it} from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** All of src with its types; libraries are read only as far as src needs them. */
function programOfSource(): ts.Program {
  const host = {...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {}};
  const parsed = ts.getParsedCommandLineOfConfigFile(`${root}tsconfig.json`, {}, host);
  if (parsed === undefined) throw new Error('tsconfig.json could not be read.');
  const files = parsed.fileNames.filter(name => name.startsWith(`${root}src/`));
  return ts.createProgram(files, parsed.options);
}

const anyText = ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral | ts.TypeFlags.Any;

/** Whether an expression may be any text, rather than a few names that the source itself lists. */
function mayBeAnyText(checker: ts.TypeChecker, expression: ts.Expression): boolean {
  // A cast says what a text should be, not what it is.
  if (ts.isAsExpression(expression)) return mayBeAnyText(checker, expression.expression);
  const type = checker.getTypeAtLocation(expression);
  return (type.isUnion() ? type.types : [type]).some(one => (one.flags & anyText) !== 0);
}

/** Whether `x[name]` or `name in x` reads a property, which may be one that every object inherits. */
function looksUp(checker: ts.TypeChecker, node: ts.Node): boolean {
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
    return mayBeAnyText(checker, node.left);
  if (!ts.isElementAccessExpression(node) || !mayBeAnyText(checker, node.argumentExpression)) return false;
  const {parent} = node;
  const isWritten =
    ts.isBinaryExpression(parent) &&
    parent.operatorToken.kind === ts.SyntaxKind.EqualsToken &&
    parent.left === node;
  return !isWritten && !ts.isDeleteExpression(parent);
}

it('an object is looked into by a name from outside in own() alone, which finds nothing that all objects inherit', () => {
  const program = programOfSource();
  const checker = program.getTypeChecker();
  const found: string[] = [];
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.startsWith(`${root}src/`)) continue;
    const visit = (node: ts.Node): void => {
      if (looksUp(checker, node)) found.push(`${file.fileName.slice(root.length)}: ${node.getText()}`);
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  expect(found).toEqual(['src/lib/object.ts: object[name]']);
}, 120_000);
