/** Reads source files for the architecture rules: their imports, and their code without comments and strings. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export type Source = {
  /** From `src/`, such as `db/page.ts`. */
  path: string;
  text: string;
  /** Text of each comment, without its marks. Adjacent line comments are one comment. */
  comments: string[];
  /** Without comments. */
  code: string;
  /** Without comments and with empty strings; template literals are kept whole, for the expressions in them. */
  bare: string;
  /** Files of src that it imports, types among them. */
  imports: string[];
  /** Names that it imports from files, by file. The name `*` stands for all of them. */
  importedNames: ReadonlyMap<string, ReadonlySet<string>>;
  /** Packages and Node's own modules. */
  packages: string[];
};

/** Comments, regular expressions, strings and template literals: whichever begins first hides the others. */
const TOKENS =
  /(?<comment>\/\*.*?\*\/|\/\/[^\n]*)|(?<=[(=,:[!&|?{};]\s*|\breturn )\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|`(?:\\.|[^`\\])*`/gs;

const IMPORTS = [
  /^\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]/g,
];

export function readSource(path: string, text: string): Source {
  const code = text.replace(TOKENS, (token, comment) => (comment === undefined ? token : ''));
  const bare = text.replace(TOKENS, (token, comment, string) =>
    comment !== undefined ? '' : string !== undefined ? "''" : token,
  );
  const specifiers = IMPORTS.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name = '']) => name));
  return {
    path,
    text,
    comments: readComments(text),
    code,
    bare,
    imports: specifiers
      .filter((name) => name.startsWith('.'))
      .map((name) => normalize(join(dirname(path), name))),
    importedNames: readImportedNames(path, code),
    packages: specifiers.filter((name) => !name.startsWith('.')),
  };
}

const NAMED_IMPORTS = /\bimport\s+(?:type\s+)?([^;'"()]*?)\s*\bfrom\s*['"](\.[^'"]+)['"]/g;
const DYNAMIC_IMPORTS = /\bimport\(\s*['"](\.[^'"]+)['"]/g;

function readImportedNames(path: string, code: string): Map<string, Set<string>> {
  const byFile = new Map<string, Set<string>>();
  const add = (specifier: string, names: readonly string[]) => {
    const file = normalize(join(dirname(path), specifier));
    byFile.set(file, new Set([...(byFile.get(file) ?? []), ...names]));
  };
  for (const [, clause = '', specifier = ''] of code.matchAll(NAMED_IMPORTS)) {
    const names = /\{(.*)\}/s.exec(clause)?.[1]?.split(',') ?? ['*'];
    add(
      specifier,
      names.map(
        (name) =>
          name
            .replace(/^\s*type\s/, '')
            .trim()
            .split(/\s/)[0] ?? '',
      ),
    );
  }
  for (const [, specifier = ''] of code.matchAll(DYNAMIC_IMPORTS)) add(specifier, ['*']);
  return byFile;
}

function readComments(text: string): string[] {
  const comments: string[] = [];
  let lineEnd = -1;
  for (const { 0: token, index, groups } of text.matchAll(TOKENS)) {
    if (groups?.['comment'] === undefined) continue;
    const isLine = token.startsWith('//');
    const words = token
      .replace(/^\/\*+|\*\/$|^\/\/|^[ \t]*\*(?!\/)/gm, ' ')
      .replace(/\s+/g, ' ')
      .trim();
    const continues = isLine && lineEnd >= 0 && text.slice(lineEnd, index).trim() === '';
    if (continues) comments.push(`${comments.pop()} ${words}`);
    else comments.push(words);
    lineEnd = isLine ? index + token.length : -1;
  }
  return comments;
}

/** Reads the sources under a folder, without packages that are installed there, such as those of `test/interop`. */
export function readSources(root: string): Source[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[jt]sx?$/.test(path) && !/(?:^|\/)node_modules\//.test(path))
    .sort()
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')));
}
