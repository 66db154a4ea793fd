import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildCopy } from '../../src/broadcasts/build-copy.ts';

type Run = Parameters<typeof buildCopy>[0];
type Building = Parameters<typeof buildCopy>[1];

/** Returns the message of a copy to this contact. */
function copyFor(email: string, more: Partial<Building['frozen']> = {}) {
  const frozen = {
    fromHeader: 'Zoë <a@b.example>',
    subject: 'Grüße',
    replyTo: null,
    headers: [],
    uses: {},
    characters: 1,
  };
  const copy = buildCopy(
    { broadcastId: 'brd_1' } as unknown as Run,
    {
      frozen: { ...frozen, ...more },
      contact: { email },
      row: { mergeValues: null, contactId: 'ct_1' },
      now: 0,
      maxAgeMs: 1,
    } as unknown as Building,
  );
  return 'message' in copy ? copy.message : assert.fail(copy.reason);
}

test('a copy needs SMTPUTF8 when an address in its header is in UTF-8', () => {
  assert.equal(copyFor('ann@readers.example').utf8, 0);
  const message = copyFor('jürgen@readers.example');
  assert.equal(message.utf8, 1);
  assert.match(message.fields ?? '', /^To: jürgen@readers\.example\r$/m);
  assert.equal(copyFor('ann@readers.example', { fromHeader: 'zoë@b.example' }).utf8, 1);
  assert.equal(copyFor('ann@readers.example', { replyTo: 'zoë@b.example' }).utf8, 1);
});
