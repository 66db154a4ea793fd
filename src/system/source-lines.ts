/**
 * Names source lines in the stacks of errors from the bundle: `dist/chunk-X.js:9:8` becomes `src/queue/site/site.ts:7:6`. A
 * source map is read only when an error is logged, and only the positions of that error are kept: the parsed map of the
 * largest file would hold 36 MB for ever. Code that runs from its sources has no maps, and its stacks stay unchanged.
 */
import { readFileSync } from 'node:fs';
import { createLru } from './lru.ts';

/** Maximum number of positions kept. A stack has ten frames, and an error that repeats costs nothing. */
const MAX_KEPT_POSITIONS = 1_000;

/** The folder of the bundle. Only its files are read, because the message of an error may name any file. */
const FOLDER = import.meta.url.slice(0, import.meta.url.lastIndexOf('/') + 1);
/** The installation, to which the named paths are relative. */
const ROOT = new URL('..', FOLDER).href;
/**
 * Finds the place in a frame, as V8 writes frames. The expression is bound to both ends of a line, so that its time
 * grows with the length of the stack alone: the message of an error, which a stack begins with, may be long.
 */
const FRAME = /^( {4}at (?:[^()\n]* \(|async )?)(file:\/\/[^\s()]+\.js:\d+:\d+)(?=\)?$)/gm;
const POSITION = /^([\w-]+\.js):(\d{1,9}):(\d{1,9})$/;

/** Lines and columns count from one, as in a stack. */
type Position = { line: number; column: number };

const known = createLru<string, string>(MAX_KEPT_POSITIONS);

/** Returns the stack with source lines. A frame whose source is unknown stays as it is. */
export function nameSourceLines(stack: string): string {
  const wanted = new Map<string, Map<string, Position>>();
  for (const [, , frame = ''] of stack.matchAll(FRAME)) {
    if (!frame.startsWith(FOLDER) || known.has(frame)) continue;
    const [, file, line, column] = POSITION.exec(frame.slice(FOLDER.length)) ?? [];
    if (file === undefined) continue;
    const positions = wanted.get(file) ?? new Map<string, Position>();
    positions.set(frame, { line: Number(line), column: Number(column) });
    wanted.set(file, positions);
  }
  for (const [file, positions] of wanted) learnPositions(file, positions);
  return stack.replace(FRAME, (_, call: string, frame: string) => call + (known.get(frame) ?? frame));
}

function learnPositions(file: string, positions: ReadonlyMap<string, Position>): void {
  const sources = readPositions(new URL(`${file}.map`, FOLDER), [...positions.values()]);
  for (const [frame, position] of positions) known.set(frame, sources.get(position) ?? frame);
}

/** Returns the source of each position that the map names. A map that is missing or damaged names none. */
function readPositions(map: URL, positions: readonly Position[]): Map<Position, string> {
  const named = new Map<Position, string>();
  try {
    const { sources, mappings } = JSON.parse(readFileSync(map, 'utf8')) as {
      sources: string[];
      mappings: string;
    };
    for (const [position, { source, line, column }] of findSegments(mappings, positions)) {
      const url = new URL(sources[source] ?? '', map).href;
      const path = url.startsWith(ROOT) ? url.slice(ROOT.length) : url;
      named.set(position, `${decodeURI(path)}:${line}:${column}`);
    }
  } catch {
    // An error is being logged, and must be whatever became of the map.
  }
  return named;
}

type Segment = Position & { source: number };

const SEMICOLON = 0x3b;
const COMMA = 0x2c;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Value of each Base64 digit, by its character code. */
const VALUES = new Uint8Array(128);
for (const [value, digit] of [...DIGITS].entries()) VALUES[digit.charCodeAt(0)] = value;

/**
 * Finds the last segment of `mappings` at or before each position on its line (ECMA-426). It keeps no list of segments:
 * fields are differences to the fields before them, so that one pass with five sums is enough.
 */
function findSegments(mappings: string, positions: readonly Position[]): Map<Position, Segment> {
  const found = new Map<Position, Segment>();
  const lastLine = Math.max(...positions.map(({ line }) => line));
  const byLine = Map.groupBy(positions, ({ line }) => line);
  /** Generated column, source, source line, source column, name. */
  const sums = [0, 0, 0, 0, 0];
  let generatedLine = 1;
  let field = 0;
  let value = 0;
  let shift = 0;
  const endSegment = (): void => {
    const [generatedColumn = 0, source = 0, line = 0, column = 0] = sums;
    if (field >= 4)
      for (const position of byLine.get(generatedLine) ?? [])
        if (position.column > generatedColumn)
          found.set(position, { source, line: line + 1, column: column + 1 });
    field = 0;
  };
  for (let at = 0; at < mappings.length && generatedLine <= lastLine; at++) {
    const code = mappings.charCodeAt(at);
    if (code === COMMA || code === SEMICOLON) {
      endSegment();
      if (code === COMMA) continue;
      generatedLine += 1;
      sums[0] = 0;
      continue;
    }
    const digit = VALUES[code] ?? 0;
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    sums[field] = (sums[field] ?? 0) + (value & 1 ? -(value >>> 1) : value >>> 1);
    field += 1;
    value = 0;
    shift = 0;
  }
  endSegment();
  return found;
}
