/** Types of threads: the messages that go in, and the tree that comes out. */
import type { SortKeys, ThreadKeys } from '../message/sort-keys.ts';
import { sentAt } from './sort.ts';

export type ThreadRow = {
  /** Sequence number or UID, which the result consists of. Numbers rise in the order of the mailbox. */
  number: number;
  /** Internal date in Unix milliseconds. */
  internalAt: number;
  keys: Pick<SortKeys, 'baseSubject' | 'isReply' | 'sent'>;
  thread: ThreadKeys;
};

/** A message and those that answer it. `number` is undefined for a parent that is not among the messages. */
export type Thread = { number: number | undefined; children: Thread[] };

/** Compares the dates of two messages, and their places in the mailbox where the dates are equal (RFC 5256 section 2.2). */
export function compareDates(one: ThreadRow, other: ThreadRow): number {
  return sentAt(one) - sentAt(other) || one.number - other.number;
}
