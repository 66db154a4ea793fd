/** Writes THREAD responses (RFC 5256 section 4) without recursion, because strangers decide how deep threads are. */
import { createStepCounter, type Steps } from '../../../system/steps.ts';
import type { Thread } from '../thread-row.ts';

/** Returns the response with its CRLF. */
export function* writeThreads(threads: readonly Thread[]): Steps<string> {
  const isDue = createStepCounter();
  let response = threads.length > 0 ? '* THREAD ' : '* THREAD';
  /** Pieces of the response that are still to be written, in reverse order. */
  const open: (Thread | string)[] = [];
  const pushLists = (lists: readonly Thread[]): void => {
    for (const thread of lists.toReversed()) open.push(')', thread, '(');
  };
  pushLists(threads);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isDue(1)) yield;
    if (typeof next === 'string') {
      response += next;
      continue;
    }
    const { number, children } = next;
    const [only] = children;
    if (number !== undefined) response += only ? `${number} ` : `${number}`;
    if (only && children.length === 1) open.push(only);
    else pushLists(children);
  }
  return `${response}\r\n`;
}
