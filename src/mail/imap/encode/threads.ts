/** Writes THREAD responses (RFC 5256 section 4) without recursion, because strangers decide how deep threads are. */
import type { Thread } from '../thread-row.ts';

/** Returns the response with its CRLF. */
export function writeThreads(threads: readonly Thread[]): string {
  const pieces = ['* THREAD', ...(threads.length > 0 ? [' '] : [])];
  /** Pieces of the response that are still to be written, in reverse order. */
  const open: (Thread | string)[] = [];
  const pushLists = (lists: readonly Thread[]): void => {
    for (const thread of lists.toReversed()) open.push(')', thread, '(');
  };
  pushLists(threads);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      pieces.push(next);
      continue;
    }
    const { number, children } = next;
    const [only, ...more] = children;
    if (number !== undefined) pieces.push(`${number}`, ...(only ? [' '] : []));
    if (only && more.length === 0) open.push(only);
    else pushLists(children);
  }
  pieces.push('\r\n');
  return pieces.join('');
}
