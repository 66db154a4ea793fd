/** Commands about many messages let others work, and end when nobody reads their answers. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Chunks, isRefusal, type SelectedMailbox } from '../../../../src/mail/imap/session.ts';
import { prepareContent } from '../../../../src/mailboxes/account/content.ts';
import { openImapAccount } from '../../../../src/mailboxes/account/imap/imap-account.ts';
import { addTestMessages, messageOf, openTestAccount } from '../../../support/test-account.ts';

const MESSAGES = 1_200;

const account = await openTestAccount();
after(() => account.close());
const bytes = messageOf('many');
const content = await prepareContent(account, [bytes]);
await addTestMessages(
  account,
  'INBOX',
  Array.from({ length: MESSAGES }, () => ({ bytes, content })),
);

async function openInbox(): Promise<SelectedMailbox> {
  const session = openImapAccount(account, { disabledCapabilities: [], quotaBytes: null });
  const answer = await session.select('INBOX', { readOnly: false, condstore: false });
  if (isRefusal(answer)) throw new Error(answer.text);
  return answer.selected;
}

async function countEmptyChunks(chunks: Chunks): Promise<number> {
  let empty = 0;
  for await (const { length } of chunks) if (length === 0) empty++;
  return empty;
}

test('SEARCH, SORT, THREAD and FETCH can be ended between slices of their messages', async () => {
  const selected = await openInbox();
  const search = { keys: [{ kind: 'all' }], uid: true, tag: 't', esearch: undefined } as const;
  const slices = Math.ceil(MESSAGES / 500);
  assert.equal(
    await countEmptyChunks(selected.search({ ...search, arrangement: { kind: 'search' } })),
    slices,
  );
  const sort = { kind: 'sort', criteria: [{ key: 'subject', reverse: false }] } as const;
  assert.equal(await countEmptyChunks(selected.search({ ...search, arrangement: sort })), 2 * slices);
  const thread = { kind: 'thread', algorithm: 'REFERENCES' } as const;
  assert.equal(await countEmptyChunks(selected.search({ ...search, arrangement: thread })), 2 * slices);
  const nothing = { changedSince: Number.MAX_SAFE_INTEGER, vanished: false, partial: undefined };
  const fetch = { set: [[1, MESSAGES]], uid: false, items: [{ kind: 'FLAGS' }], ...nothing } as const;
  assert.equal(await countEmptyChunks(selected.fetch(fetch)), slices);
});
