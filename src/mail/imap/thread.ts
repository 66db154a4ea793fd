/** Groups messages into threads (RFC 5256 section 3). */
import { sortInSteps } from '../../system/sort-in-steps.ts';
import { createStepCounter, type Steps } from '../../system/steps.ts';
import { compareTexts } from './sort.ts';
import { threadByReferences } from './thread-references.ts';
import { compareDates, type Thread, type ThreadRow } from './thread-row.ts';

export type ThreadAlgorithm = 'ORDEREDSUBJECT' | 'REFERENCES';

/** Returns the threads in the order of their first messages. The rows are in the order of the mailbox. */
export function threadMessages(algorithm: ThreadAlgorithm, rows: readonly ThreadRow[]): Steps<Thread[]> {
  return algorithm === 'REFERENCES' ? threadByReferences(rows) : threadBySubject(rows);
}

/** Messages with the same base subject answer the first one of them. */
function* threadBySubject(rows: readonly ThreadRow[]): Steps<Thread[]> {
  const isDue = createStepCounter();
  const sorted = yield* sortInSteps(
    rows,
    (one, other) => compareTexts(one.keys.baseSubject, other.keys.baseSubject) || compareDates(one, other),
  );
  const threads: { first: ThreadRow; thread: Thread }[] = [];
  for (const row of sorted) {
    const last = threads.at(-1);
    const leaf: Thread = { number: row.number, children: [] };
    if (last?.first.keys.baseSubject === row.keys.baseSubject) last.thread.children.push(leaf);
    else threads.push({ first: row, thread: leaf });
    if (isDue(1)) yield;
  }
  const byDate = yield* sortInSteps(threads, (one, other) => compareDates(one.first, other.first));
  return byDate.map(({ thread }) => thread);
}
