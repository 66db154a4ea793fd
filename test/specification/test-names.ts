/**
 * The tests of a file, read from its text: those that its run would name, and that are really run. A test stands at the top
 * of its file or in loops over tables of the file; its name is a string, or a template filled in from a row of the table. One
 * that is skipped, to do, without a body, or under a condition is none; nor is what stands in a comment or a string.
 */
import {
  closingBracket,
  elementsIn,
  literalEnd,
  literalText,
  openBrackets,
  type Piece,
  readSourceText,
  type SourceText,
  trimmed,
  unescaped,
} from './source-text.ts';

/** What the names of a loop stand for in one of its turns. */
type Turn = ReadonlyMap<string, string>;

const TEST_OF_NODE = /^import \{[^}]*\btest\b[^}]*\} from 'node:test';$/m;

export function testNamesIn(text: string): Set<string> {
  const source = readSourceText(text);
  if (!TEST_OF_NODE.test(source.plain)) return new Set();
  const calls = [...source.code.matchAll(/test\(/g)];
  return new Set(calls.flatMap(({ index }) => namesOfCall(source, index)));
}

function namesOfCall(source: SourceText, index: number): string[] {
  const call = { start: index + 'test('.length, end: closingBracket(source, index + 'test'.length) };
  const loops = loopsAround(source, index);
  const name = trimmed(source, call);
  const end = literalEnd(source.text, name.start);
  if (!loops || end === undefined || !isRun(source, { start: end, end: call.end })) return [];
  const literal = source.text.slice(name.start, end);
  const filled = turnsOf(source, loops).map((turn) => fillIn(literal, turn));
  return filled.filter((one) => one !== undefined);
}

/** Whether what follows its name is a body, and nothing keeps it from being run. */
function isRun({ code }: SourceText, { start, end }: Piece): boolean {
  const rest = code.slice(start, end);
  return /^\s*,/.test(rest) && !/\b(skip|todo)\b/.test(rest) && !/=>\s*\{\s*\}\s*,?\s*$/.test(rest);
}

function fillIn(literal: string, turn: Turn): string | undefined {
  if (!literal.startsWith('`')) return unescaped(literal.slice(1, -1));
  let isWhole = true;
  const filled = literal.slice(1, -1).replace(/\$\{([^}]*)\}|\\./gs, (found, name: string | undefined) => {
    if (name === undefined) return unescaped(found);
    const value = turn.get(name);
    if (value === undefined) isWhole = false;
    return value ?? '';
  });
  return isWhole ? filled : undefined;
}

type Loop = { start: number; binding: Piece; table: Piece };

/** The `for … of` around this place, outermost first; undefined when anything else is around it, or before it. */
function loopsAround(source: SourceText, place: number): Loop[] | undefined {
  const before = source.code
    .slice(0, place)
    .trimEnd()
    .replace(/\b(await|void)$/, '');
  const last = before.trimEnd().at(-1) ?? ';';
  if (!';{})'.includes(last)) return undefined;
  const end = last === ')' ? before.length : openBrackets(source, place).at(-1);
  if (end === undefined) return [];
  if (/\b(continue|break)\b/.test(source.code.slice(end, place))) return undefined;
  const loop = loopBefore(source, end);
  const outer = loop && loopsAround(source, loop.start);
  return outer && [...outer, loop];
}

/** The loop whose body begins at `end`. */
function loopBefore(source: SourceText, end: number): Loop | undefined {
  const close = source.code.slice(0, end).trimEnd().length - 1;
  const open = openBrackets(source, close).at(-1) ?? 0;
  const keyword = /\bfor\s*$/.exec(source.code.slice(0, open));
  const head = /^const\s+(.*?)\s+of\s/s.exec(source.code.slice(open + 1, close));
  if (!keyword || !head) return undefined;
  const from = open + 1 + 'const'.length;
  const middle = open + 1 + head[0].length;
  return {
    start: keyword.index,
    binding: trimmed(source, { start: from, end: middle - ' of '.length }),
    table: trimmed(source, { start: middle, end: close }),
  };
}

/** Of loops in one another, each turn of each. */
function turnsOf(source: SourceText, loops: readonly Loop[]): Turn[] {
  return loops.reduce<Turn[]>(
    (turns, { binding, table }) => {
      const rows = rowsOf(source, table).map((row) => bind(source, binding, row));
      return turns.flatMap((turn) => rows.map((row) => new Map([...turn, ...row])));
    },
    [new Map()],
  );
}

/** A row of a table: a piece of the text, or a name and what is named. */
type Row = { key?: string; piece: Piece };

/** Of a list or of the entries of an object, here or in a constant of the file; what is computed has none. */
function rowsOf(source: SourceText, table: Piece): Row[] {
  const text = source.plain.slice(table.start, table.end);
  if (text.startsWith('[') && isWhole(source, table)) return listOf(source, table.start);
  const called = /^Object\.(entries|keys)\(/.exec(text);
  if (called && isWhole(source, { ...table, start: table.start + called[0].length - 1 })) {
    const [argument] = elementsIn(source, table.start + called[0].length - 1);
    const object = argument && declared(source, argument);
    return object && source.code[object.start] === '{' ? fieldsOf(source, object.start) : [];
  }
  const constant = declared(source, table);
  return constant.start === table.start ? [] : rowsOf(source, constant);
}

/** Nothing follows its last bracket but what TypeScript is told of it. */
function isWhole(source: SourceText, { start, end }: Piece): boolean {
  const rest = source.plain.slice(closingBracket(source, start) + 1, end);
  return /^\s*((as|satisfies)\b[^.(]*)?$/.test(rest);
}

function listOf(source: SourceText, start: number): Row[] {
  return elementsIn(source, start)
    .filter((piece) => !isSpread(source, piece))
    .map((piece) => ({ piece }));
}

/** What it holds, and how much, only a run would tell. */
function isSpread(source: SourceText, piece: Piece): boolean {
  return source.plain.startsWith('...', piece.start);
}

function fieldsOf(source: SourceText, start: number): Row[] {
  return elementsIn(source, start).flatMap((field): Row[] => {
    const colon = source.code.slice(field.start, field.end).indexOf(':');
    if (colon === -1) return [];
    const name = trimmed(source, { start: field.start, end: field.start + colon });
    const key = literalText(source, name) ?? source.plain.slice(name.start, name.end);
    return [{ key, piece: trimmed(source, { start: field.start + colon + 1, end: field.end }) }];
  });
}

/** What a name stands for that is declared once in the file; anything else is itself. */
function declared(source: SourceText, piece: Piece): Piece {
  const name = source.plain.slice(piece.start, piece.end);
  if (!/^[\w$]+$/.test(name)) return piece;
  const [found, ...others] = source.code.matchAll(new RegExp(`const ${name}\\b.*?=(?![=>])`, 'gs'));
  if (!found || others.length > 0) return piece;
  const start = found.index + found[0].length;
  let end = start;
  while (end < source.code.length && source.code[end] !== ';') {
    end = /[([{]/.test(source.code.charAt(end)) ? closingBracket(source, end) + 1 : end + 1;
  }
  return trimmed(source, { start, end });
}

function bind(source: SourceText, binding: Piece, { key, piece }: Row): Turn {
  const turn = new Map<string, string>();
  const put = (target: Piece, value: string | undefined) => {
    const name = source.plain.slice(target.start, target.end);
    if (value !== undefined && /^[\w$]+$/.test(name)) turn.set(name, value);
  };
  const opening = source.code[binding.start];
  if (opening === '[') {
    const [first, second] = elementsIn(source, binding.start);
    if (key !== undefined) {
      if (first) put(first, key);
      if (second) put(second, literalText(source, piece));
    } else {
      const cells = elementsIn(source, piece.start);
      const spread = cells.findIndex((cell) => isSpread(source, cell));
      if (spread !== -1) cells.length = spread;
      for (const [index, target] of elementsIn(source, binding.start).entries()) {
        const cell = cells[index];
        put(target, cell && literalText(source, cell));
      }
    }
  } else if (opening === '{') {
    const fields = new Map(fieldsOf(source, piece.start).map((row) => [row.key, row.piece]));
    for (const target of elementsIn(source, binding.start)) {
      const cell = fields.get(source.plain.slice(target.start, target.end));
      put(target, cell && literalText(source, cell));
    }
  } else put(binding, key ?? literalText(source, piece));
  return turn;
}
