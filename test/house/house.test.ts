/** The rules of the house, checked over `src/`: who imports whom, sizes, homes of the outside world. */
import { describe, expect, test } from 'bun:test';
import ts from 'typescript';
import {
  functionsOf,
  readSources,
  type SourceFile,
  undocumentedExports,
  usesOf,
} from './source.ts';

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const LINE_LENGTH_MAX = 100;

const sources = readSources();
const code = sources.filter((file) => !file.isTest);

/** Leaf modules of runtime/ that kube/ may use as well. */
const RUNTIME_LEAVES = ['clock', 'log', 'limits', 'metrics', 'random', 'abort', 'lru'].map(
  (name) => `src/runtime/${name}.ts`,
);

interface Rule {
  /** Folders of src/ that may be imported through their doors. */
  readonly folders: readonly string[];
  /** Single files that may be imported besides. */
  readonly files?: readonly string[];
  /** Packages (or `node:` modules) that may be imported. */
  readonly packages: readonly RegExp[];
}

const NODE =
  /^node:(assert|buffer|child_process|crypto|events|fs|http|https|net|os|path|stream|timers|tls|url|util|worker_threads)/;

const RULES: Readonly<Record<string, Rule>> = {
  api: { folders: [], packages: [/^@kubernetes\/client-node$/] },
  kube: {
    folders: ['api'],
    files: RUNTIME_LEAVES,
    packages: [/^@kubernetes\/client-node$/, /^yaml$/, NODE, /^prom-client$/],
  },
  runtime: { folders: ['api', 'kube'], packages: [/^prom-client$/, /^bun:ffi$/, NODE] },
  store: {
    folders: ['api', 'runtime'],
    packages: [/^drizzle-orm/, /^bun:sqlite$/, NODE],
  },
  lease: { folders: ['api', 'kube', 'runtime'], packages: [NODE, /^prom-client$/] },
  service: { folders: ['runtime'], packages: [/^bun:ffi$/] },
  http: {
    folders: ['api', 'runtime', 'kube'],
    packages: [
      /^hono/,
      /^@hono\/node-server/,
      /^@peculiar\/x509$/,
      /^reflect-metadata$/,
      /^prom-client$/,
      NODE,
    ],
  },
  options: {
    folders: ['api', 'runtime'],
    files: ['src/controllers/registry.ts', 'src/version.ts'],
    packages: [/^yaml$/, NODE],
  },
  cli: {
    folders: ['api', 'runtime', 'store', 'options'],
    files: ['src/version.ts'],
    packages: [/^yaml$/, /^cli-table3$/, NODE],
  },
  'controllers/_kit': { folders: ['api', 'runtime'], packages: [] },
  controllers: { folders: ['api', 'runtime', 'controllers/_kit'], packages: [/^prom-client$/] },
};

/** Folder of a path that rules speak of: "kube", "controllers/_kit", "controllers/deployment". */
function roomOf(path: string): string {
  const parts = path.split('/');
  if (parts[0] === 'controllers')
    return parts.length > 2 ? `controllers/${parts[1]}` : 'controllers';
  return parts.length > 1 ? (parts[0] ?? '') : '';
}

function ruleOf(room: string): Rule | undefined {
  if (room.startsWith('controllers/') && room !== 'controllers/_kit') return RULES.controllers;
  return RULES[room];
}

/** Texts from outside src/ that become part of the binary. */
function isEmbedded(imported: string): boolean {
  return /^src\/\.\.\/(package\.json|migrations\/.*\.sql)$/.test(imported);
}

/** The list of controllers imports their doors and nothing else of theirs. */
function isRegistryEntry(from: string, target: string): boolean {
  const door = /^controllers\/[a-z-]+\/index\.ts$/.test(target);
  return from === 'controllers/registry.ts' && (door || target === 'runtime/controller.ts');
}

function complaintsAboutImports(file: SourceFile): string[] {
  const room = roomOf(file.path);
  const rule = ruleOf(room);
  if (rule === undefined) return [];
  return file.imports.flatMap((imported) => {
    if (!imported.startsWith('src/')) {
      if (rule.packages.some((pattern) => pattern.test(imported))) return [];
      return [`${file.path} imports the package ${imported}`];
    }
    if (imported.startsWith('src/../'))
      return isEmbedded(imported) ? [] : [`${file.path} leaves src`];
    const target = imported.slice('src/'.length);
    const targetRoom = roomOf(target);
    if (isRegistryEntry(file.path, target)) return [];
    if (targetRoom === room || rule.files?.includes(imported)) return [];
    const allowed = rule.folders.some(
      (folder) => targetRoom === folder || target.startsWith(`${folder}/`),
    );
    return allowed ? [] : [`${file.path} imports ${imported}`];
  });
}

describe('the house', () => {
  test('nobody imports what his folder may not see', () => {
    expect(code.flatMap(complaintsAboutImports)).toEqual([]);
  });

  test('decide files see nothing but api, pure rules and each other', () => {
    const pure = code.filter((file) => /^controllers\/.*\/decide(-[a-z]+)?\.ts$/.test(file.path));
    const bad = pure.flatMap((file) =>
      file.imports
        .filter((imported) => /^src\/(runtime|kube|store|lease|http)\//.test(imported))
        .filter((imported) => imported !== 'src/runtime/informer/types.ts')
        .map((imported) => `${file.path} imports ${imported}`),
    );
    expect(pure.length).toBeGreaterThan(0);
    expect(bad).toEqual([]);
  });

  test('other folders are entered by their door', () => {
    const open = new Set(['api', 'runtime', 'controllers/_kit']);
    const bad = code.flatMap((file) =>
      file.imports
        .filter((imported) => imported.startsWith('src/'))
        .map((imported) => imported.slice('src/'.length))
        .filter((target) => {
          const room = roomOf(target);
          if (room === '..' || room === '' || room === 'controllers') return false;
          if (room === roomOf(file.path)) return false;
          if (open.has(room) || target === `${room}/index.ts`) return false;
          return target !== 'kube/types.ts';
        })
        .map((target) => `${file.path} reaches into ${target}`),
    );
    expect(bad).toEqual([]);
  });

  test('no file imports itself in a circle', () => {
    expect(circles(code)).toEqual([]);
  });

  test(`files stay under ${FILE_LINES_MAX} lines, functions under ${FUNCTION_LINES_MAX}`, () => {
    const longFiles = code
      .map((file) => ({ path: file.path, lines: file.text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > FILE_LINES_MAX);
    const longFunctions = code.flatMap((file) =>
      functionsOf(file)
        .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
        .map(({ name, line, lines }) => `${file.path}:${line} ${name}: ${lines} lines`),
    );
    expect(longFiles).toEqual([]);
    expect(longFunctions).toEqual([]);
  });

  test(`lines stay under ${LINE_LENGTH_MAX} columns unless one text fills them`, () => {
    const bad = code.flatMap((file) =>
      file.text
        .split('\n')
        .map((text, index) => ({ text, where: `${file.path}:${index + 1}` }))
        .filter(({ text }) => text.length > LINE_LENGTH_MAX && !/['"`/].*['"`/]/.test(text))
        .map(({ where }) => where),
    );
    expect(bad).toEqual([]);
  });

  test('time, chance, environment, console, sockets and SQLite have one home each', () => {
    const homes: readonly [readonly string[], RegExp][] = [
      [
        ['Date.now', 'new Date()', 'performance.now', 'setTimeout()', 'setInterval()', 'Bun.sleep'],
        /^runtime\/clock\.ts$/,
      ],
      [['Math.random', 'crypto.randomUUID', 'crypto.getRandomValues'], /^runtime\/random\.ts$/],
      [['process.env', 'Bun.env'], /^(main|program|options\/.*)\.ts$/],
      [
        ['console.log', 'console.error', 'console.warn', 'process.stdout', 'process.stderr'],
        /^(program\.ts|cli\/.*)$/,
      ],
      [['fetch()', 'Bun.fetch'], /^kube\/transport\.ts$/],
    ];
    const bad = homes.flatMap(([names, home]) =>
      code.filter((file) => !home.test(file.path)).flatMap((file) => usesOf(file, names)),
    );
    expect(bad).toEqual([]);
  });

  test('every exported function and class says what it gives', () => {
    expect(code.flatMap(undocumentedExports)).toEqual([]);
  });

  test('no `any`, no default export, no word that admits something is missing', () => {
    const bad = code.flatMap((file) => {
      const found: string[] = [];
      const words = /\b(TODO|FIXME|HACK|XXX)\b|@ts-(ignore|expect-error|nocheck)/;
      if (words.test(file.text)) found.push(`${file.path}: ${words.exec(file.text)?.[0]}`);
      if (/^export default/m.test(file.text)) found.push(`${file.path}: default export`);
      const visit = (node: ts.Node): void => {
        if (node.kind === ts.SyntaxKind.AnyKeyword) found.push(`${file.path}: any`);
        ts.forEachChild(node, visit);
      };
      visit(file.tree);
      return found;
    });
    expect(bad).toEqual([]);
  });

  test('every bound is named in runtime/limits.ts', () => {
    const bound = /^(export )?const [A-Z_]*(_MAX|_AT_ONCE|_CAPACITY|_LIMIT)\b/;
    const bad = code
      .filter((file) => file.path !== 'runtime/limits.ts')
      .filter((file) => /^(runtime|kube|store|lease|http)\//.test(file.path))
      .flatMap((file) =>
        file.text
          .split('\n')
          .filter((line) => bound.test(line))
          .map((line) => `${file.path}: ${line.trim()}`),
      );
    expect(bad).toEqual([]);
  });

  test('every file is reached from main.ts, a worker or a test', () => {
    expect(unreached(sources)).toEqual([]);
  });
});

/** Circles of imports between files, each as the path that closes it. */
function circles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [`src/${file.path}`, file]));
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      return;
    }
    if (done.has(path)) return;
    for (const next of valueImports(byPath.get(path))) {
      if (byPath.has(next)) walk(next, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of byPath.keys()) walk(path, []);
  return found;
}

/** Imports that exist at run time: `import type` makes no circle. */
function valueImports(file: SourceFile | undefined): string[] {
  if (file === undefined) return [];
  const typeOnly = new Set<string>();
  file.tree.forEachChild((node) => {
    if (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly === true) {
      typeOnly.add((node.moduleSpecifier as ts.StringLiteral).text.replace(/^(\.\.?\/)+/, ''));
    }
  });
  return file.imports.filter(
    (imported) => ![...typeOnly].some((ending) => imported.endsWith(`/${ending}`)),
  );
}

function unreached(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [`src/${file.path}`, file]));
  const roots = files
    .filter((file) => file.isTest || file.path === 'main.ts' || /worker\.ts$/.test(file.path))
    .map((file) => `src/${file.path}`);
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const next of byPath.get(path)?.imports ?? []) visit(next);
  };
  for (const root of roots) visit(root);
  return [...byPath.keys()].filter((path) => !seen.has(path));
}
