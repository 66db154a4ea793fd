/** Reads the arguments of THREAD (RFC 5256 section 5). */
import { bad } from '../command-error.ts';
import type { SearchKey } from '../search-key.ts';
import type { ThreadAlgorithm } from '../thread.ts';
import type { Cursor } from './cursor.ts';
import { parseCharset } from './search.ts';
import { parseSearchKeys } from './search-keys.ts';

type ThreadArguments = { algorithm: ThreadAlgorithm; keys: SearchKey[] };

/** Returns the arguments. @throws CommandError */
export function parseThread(cursor: Cursor): ThreadArguments {
  cursor.space();
  const algorithm = parseAlgorithm(cursor.atom().toUpperCase());
  cursor.space();
  parseCharset(cursor);
  return { algorithm, keys: parseSearchKeys(cursor) };
}

function parseAlgorithm(name: string): ThreadAlgorithm {
  return name === 'ORDEREDSUBJECT' || name === 'REFERENCES'
    ? name
    : bad('The threading algorithm is unknown');
}
