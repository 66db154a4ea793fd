/** Reads the parameters of SELECT and EXAMINE (RFC 4466 section 2.1). */
import { bad } from '../command-error.ts';
import { LAST, type SequenceRange } from '../sequence-set.ts';
import type { Cursor } from './cursor.ts';
import { parseSequenceSet } from './sequence-set.ts';

export type SelectParameters = {
  /** The client wants modseqs (RFC 7162 section 3.1.8). */
  condstore: boolean;
  resync: Resync | undefined;
};

/** State of a mailbox as the client knows it from before (RFC 7162 section 3.2.5). */
type Resync = {
  uidValidity: number;
  modseq: number;
  /** UIDs that the client has; undefined for all. */
  known: readonly SequenceRange[] | undefined;
};

/** Returns the parameters up to the end of the command. @throws CommandError */
export function parseSelectParameters(cursor: Cursor): SelectParameters {
  const parameters: SelectParameters = { condstore: false, resync: undefined };
  if (cursor.isAtEnd) return parameters;
  cursor.space();
  cursor.list(() => {
    const name = cursor.word();
    if (name === 'CONDSTORE') parameters.condstore = true;
    else if (name === 'QRESYNC') parameters.resync = parseResync(cursor);
    else bad('The command has a parameter that is unknown');
  });
  return parameters;
}

function parseResync(cursor: Cursor): Resync {
  cursor.space();
  cursor.expect('(');
  // Some clients send 0 for what they do not know. No mailbox has the UIDVALIDITY 0, and everything has changed since modseq 0.
  const uidValidity = cursor.number();
  cursor.space();
  const modseq = cursor.number();
  let known: Resync['known'];
  if (!cursor.skip(')')) {
    cursor.space();
    if (!cursor.isAtList) known = parseKnown(cursor);
    if (!known || cursor.isBeforeList) {
      if (known) cursor.space();
      skipMatches(cursor);
    }
    cursor.expect(')');
  }
  return { uidValidity, modseq, known };
}

/** A client that names UIDs knows them, so `*` makes no sense (RFC 7162 section 7, `known-uids`). */
function parseKnown(cursor: Cursor): readonly SequenceRange[] {
  const set = parseSequenceSet(cursor);
  if (set === '$' || set.flat().includes(LAST)) return bad('The set of known UIDs is malformed');
  return set;
}

/** Sequence numbers and their UIDs help servers that forget removed UIDs, which is not needed here. */
function skipMatches(cursor: Cursor): void {
  cursor.expect('(');
  parseKnown(cursor);
  cursor.space();
  parseKnown(cursor);
  cursor.expect(')');
}
