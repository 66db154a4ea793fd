import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endWithChanges } from '../../../src/mail/imap/end-with-changes.ts';
import type { ChangeKind, Chunks, Refusal } from '../../../src/mail/imap/session.ts';

async function* answering(text: string, result: Refusal | undefined): Chunks {
  yield Buffer.from(text);
  return result;
}

/** Returns what is sent and what completes the command, of an answer and of the changes. */
async function endOf(
  result: Refusal | undefined,
  { kind = 'all', end }: { kind?: ChangeKind | 'none'; end?: Refusal } = {},
) {
  const selected = { changes: (asked: ChangeKind) => answering(` ${asked}`, end) };
  const chunks = endWithChanges(
    answering('answer', result),
    { thenChanges: kind === 'none' ? undefined : kind },
    selected,
  );
  let sent = '';
  for (;;) {
    const next = await chunks.next();
    if (next.done) return [sent, next.value];
    sent += next.value;
  }
}

const refusal = (refused: Refusal['refused']): Refusal => ({ refused, text: 'so' });

test('changes follow an answer that does not end the session, where they are asked for', async () => {
  assert.deepEqual(await endOf(undefined), ['answer all', undefined]);
  assert.deepEqual(await endOf(refusal('NO'), { kind: 'withoutExpunge' }), [
    'answer withoutExpunge',
    refusal('NO'),
  ]);
  assert.deepEqual(await endOf(refusal('BYE')), ['answer', refusal('BYE')]);
  assert.deepEqual(await endOf(undefined, { kind: 'none' }), ['answer', undefined]);
});

test('changes that end the session end the command', async () => {
  assert.deepEqual(await endOf(undefined, { end: refusal('BYE') }), ['answer all', refusal('BYE')]);
});
