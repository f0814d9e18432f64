/** Reads `src/` as the house test sees it: files, their imports, functions and exported names. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import ts from 'typescript';

export const ROOT = join(import.meta.dir, '..', '..');
export const SRC = join(ROOT, 'src');

export interface SourceFile {
  /** Path under src/, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly string[];
  readonly isTest: boolean;
}

/** All TypeScript files under src/. */
export function readSources(): SourceFile[] {
  return walk(SRC)
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
    .map((path) => {
      const text = readFileSync(path, 'utf8');
      const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
      const inside = relative(SRC, path);
      const isTest = /\.test\.tsx?$/.test(path) || /(^|\/)testing\//.test(inside);
      return { path: inside, text, tree, imports: importsOf(tree, path), isTest };
    });
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? walk(path) : [path];
  });
}

/** Imports of a file: package names as they stand, own files as paths under src/. */
function importsOf(tree: ts.SourceFile, path: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
      node.moduleSpecifier !== undefined &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      found.push(resolve(node.moduleSpecifier.text, path));
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const literal = node.argument.literal;
      if (ts.isStringLiteral(literal)) found.push(resolve(literal.text, path));
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      if (argument !== undefined && ts.isStringLiteral(argument)) {
        found.push(resolve(argument.text, path));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function resolve(specifier: string, from: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return `src/${relative(SRC, normalize(join(dirname(from), specifier)))}`;
}

/** Every function-like node with its name and length in lines. */
export function functionsOf(file: SourceFile): { name: string; line: number; lines: number }[] {
  const found: { name: string; line: number; lines: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isArrowFunction(node) ||
      ts.isFunctionExpression(node) ||
      ts.isConstructorDeclaration(node)
    ) {
      const first = file.tree.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = file.tree.getLineAndCharacterOfPosition(node.end).line;
      const name = 'name' in node && node.name !== undefined ? node.name.getText() : '(anonymous)';
      found.push({ name, line: first + 1, lines: last - first + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return found;
}

/** Exported functions and classes that carry no doc comment. */
export function undocumentedExports(file: SourceFile): string[] {
  const found: string[] = [];
  file.tree.forEachChild((node) => {
    if (!ts.isFunctionDeclaration(node) && !ts.isClassDeclaration(node)) return;
    const exported = node.modifiers?.some((m) => m.kind === ts.SyntaxKind.ExportKeyword);
    if (exported !== true || ts.getJSDocCommentsAndTags(node).length > 0) return;
    const line = file.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    found.push(`${file.path}:${line} ${node.name?.text ?? '(anonymous)'}`);
  });
  return found;
}

/** Places where code (not text or comments) uses one of the given dotted names or calls. */
export function usesOf(file: SourceFile, names: readonly string[]): string[] {
  const found: string[] = [];
  const note = (node: ts.Node, what: string): void => {
    const line = file.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    found.push(`${file.path}:${line} ${what}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && names.includes(node.getText())) {
      note(node, node.getText());
    }
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      if (names.includes(`${node.expression.text}()`)) note(node, `${node.expression.text}()`);
    }
    if (
      ts.isNewExpression(node) &&
      node.expression.getText() === 'Date' &&
      (node.arguments?.length ?? 0) === 0 &&
      names.includes('new Date()')
    ) {
      note(node, 'new Date()');
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return found;
}
