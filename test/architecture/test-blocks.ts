/** Finds tests that prove nothing. It reads blocks by their indentation, which the formatter guarantees. */
import type { Source } from './source.ts';

/** Begins of a statement. Lines of a template literal may be indented as little, and are part of the block. */
const STATEMENT =
  /^ *(?:test\(|after\(|before\(|assert\b|await |for |if |const |let |async |function |export |type |class )/;

type Block = { line: number; text: string };

/** Functions that prepare a test. What they assert is not what the test claims. */
const PREPARES = /^(?:open|start|create|add|make|serve)/;
/** A function, or the functions that one call returns: `const { refused, accepted } = senderOf(…)`. */
const DECLARATION = /^(?:export )?(?:async )?(?:function|const) (\w+|\{[\w\s,]*\})/;
const CALL = /(?<![.\w])([a-z]\w*)(?=\()/g;

/**
 * Returns each test that contains no assertion and calls no function that contains one. Such a function is declared in
 * the file of the test, or imported from another file of the tests by its name.
 */
export function testsWithoutAssertion(sources: readonly Source[]): string[] {
  const asserting = assertingFunctions(sources);
  return sources.flatMap((source) => {
    const known = namesIn(source, asserting);
    return blocks(source.bare, /^ *(?:await )?test\(/)
      .filter(({ text }) => !asserts(text, known))
      .map(({ line }) => `${source.path}:${line}`);
  });
}

type ByFile = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the names of the functions that assert, themselves or by another such function, by file. */
function assertingFunctions(sources: readonly Source[]): ByFile {
  const found = new Map(sources.map(({ path }) => [path, new Set<string>()]));
  const declared = sources.flatMap((source) =>
    blocks(source.bare, DECLARATION).map(({ text }) => {
      const [head, names = ''] = DECLARATION.exec(text) ?? [''];
      return { source, names: names.match(/\w+/g) ?? [], body: text.slice(head.length) };
    }),
  );
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (const { source, names, body } of declared) {
      const inFile = found.get(source.path);
      const others = names.filter((name) => !PREPARES.test(name) && !inFile?.has(name));
      if (others.length === 0 || !asserts(body, namesIn(source, found))) continue;
      for (const name of others) inFile?.add(name);
      isNew = true;
    }
  }
  return found;
}

/** Returns the names of such functions that a file can call: its own and those that it imports. */
function namesIn({ path, importedNames }: Source, asserting: ByFile): ReadonlySet<string> {
  const imported = [...importedNames].flatMap(([file, names]) =>
    [...names].filter((name) => asserting.get(file)?.has(name)),
  );
  return new Set([...(asserting.get(path) ?? []), ...imported]);
}

function asserts(text: string, functions: ReadonlySet<string>): boolean {
  if (/\bassert[.(]/.test(text)) return true;
  return [...text.matchAll(CALL)].some(([, name = '']) => functions.has(name));
}

/** Returns the blocks that begin with such a line. A block ends before the next statement that is indented as little. */
function blocks(code: string, opening: RegExp): Block[] {
  const lines = code.split('\n');
  return lines.flatMap((first, index) => {
    if (!opening.test(first)) return [];
    const indent = first.search(/\S/);
    const rest = lines.slice(index + 1);
    const length = rest.findIndex((line) => {
      const own = line.search(/\S/);
      return own >= 0 && (own < indent || (own === indent && STATEMENT.test(line)));
    });
    return [
      { line: index + 1, text: [first, ...rest.slice(0, length < 0 ? rest.length : length)].join('\n') },
    ];
  });
}
