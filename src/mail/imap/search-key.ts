/**
 * Search criteria (RFC 9051 section 6.4.4) as plain data. Keys with an opposite are given as `not` of the other: UNSEEN is
 * `not` of the flag `\Seen`. NEW and OLD, which RFC 3501 has, are made of the flags `\Recent` and `\Seen`.
 */
import type { SequenceSet } from './sequence-set.ts';

/** Keys are nested at most `MAX_NESTING` deep (parser/search-keys.ts). */
export type SearchKey =
  | { kind: 'all' }
  | { kind: 'and' | 'or'; keys: readonly SearchKey[] }
  | { kind: 'not'; key: SearchKey }
  | { kind: 'flag'; flag: string }
  /** `uid` tells UIDs from sequence numbers. Numbers that do not exist match nothing. */
  | { kind: 'set'; set: SequenceSet; uid: boolean }
  /** Text in the whole message, or in its body. */
  | { kind: 'text' | 'body'; text: string }
  /** Text in a header field, whose name is in lower case. An empty text matches every message that has the field. */
  | { kind: 'header'; field: string; text: string }
  /**
   * `internal` is the date of arrival, `sent` that of the Date field, both in their own zone, and `saved` the day in UTC at which the
   * message came into the mailbox (RFC 8514). `day` is YYYY-MM-DD.
   */
  | { kind: 'date'; of: 'internal' | 'sent' | 'saved'; comparison: 'before' | 'on' | 'since'; day: string }
  /** Messages that arrived at least or at most this number of seconds ago (RFC 5032). */
  | { kind: 'older' | 'younger'; seconds: number }
  | { kind: 'larger' | 'smaller'; sizeBytes: number }
  /** EMAILID of the message (RFC 8474). */
  | { kind: 'emailId'; id: string }
  /** Messages that were changed at this modseq or later (RFC 7162 section 3.1.5). */
  | { kind: 'modseq'; atLeast: number };

/** A criterion that is not made of others. */
export type SearchLeaf = Exclude<SearchKey, { keys: unknown } | { key: unknown }>;

/** Returns the criteria of which a key is made. The parser limits how deep keys are nested. */
export function leavesOf(key: SearchKey): SearchLeaf[] {
  if ('key' in key) return leavesOf(key.key);
  return 'keys' in key ? key.keys.flatMap(leavesOf) : [key];
}
