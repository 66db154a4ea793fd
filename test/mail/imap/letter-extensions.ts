/** Extensions that every kind of session must answer the same, as transcripts like those of letter.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/mail/imap/options.ts';
import { completes, type LetterMail, ok, openerOf } from './letter.ts';

/** Defines the tests for one kind of sessions. */
export function holdExtensionsToTheLetter(mail: LetterMail): void {
  const open = openerOf(mail);

  test('APPENDLIMIT: CAPABILITY, STATUS and LIST tell the limit beyond which APPEND answers TOOBIG', async (t) => {
    const { mailbox, ask } = await open(t, ['1']);
    const limit = DEFAULT_LIMITS.messageBytes;
    assert.ok((await ok(ask, 'CAPABILITY')).join().split(' ').includes(`APPENDLIMIT=${limit}`));
    const status = `* STATUS ${mailbox} (MESSAGES 1 APPENDLIMIT ${limit})`;
    assert.deepEqual(await ok(ask, `STATUS ${mailbox} (MESSAGES APPENDLIMIT)`), [status]);
    const [, listed] = await ok(ask, `LIST "" ${mailbox} RETURN (STATUS (MESSAGES appendlimit))`);
    assert.equal(listed, status);
    await completes(ask, `APPEND ${mailbox} {${limit + 1}}`, /^NO \[TOOBIG\]/);
    await completes(ask, `APPEND ${mailbox} {${limit}}`, /^\+/);
  });
}
