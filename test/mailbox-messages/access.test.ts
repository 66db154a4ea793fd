/** The bounds on the calls to accounts: what one mailbox or tenant asks for leaves room for others, and no message is cut off. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { createMessageAccess } from '../../src/mailbox-messages/access.ts';

const mailbox = (id: string, tenantId: string) => ({ id, tenantId }) as MailboxRow;

/** Returns the access to accounts whose calls end when `open` is called. */
function slowAccess() {
  const gate = Promise.withResolvers<Uint8Array>();
  const messages = { call: () => gate.promise };
  const access = createMessageAccess({ accounts: { messages } } as never);
  return { access, open: () => gate.resolve(new Uint8Array(1)) };
}

test('neither a mailbox nor all mailboxes of a tenant fill the queue of other tenants', async () => {
  const { access, open } = slowAccess();
  const ask = (of: MailboxRow) => access.call(of, 'listFolders', {});
  const hostile = Array.from({ length: 200 }, (_, index) => ask(mailbox(`a${index % 10}`, 'a')));
  const settled = Promise.allSettled(hostile);
  const others = Array.from({ length: 8 }, () => ask(mailbox('b1', 'b')));
  open();
  assert.equal((await Promise.all(others)).length, 8);
  const refused = (await settled).filter(({ status }) => status === 'rejected');
  assert.equal(refused.length, 200 - 48);
  assert.equal(refused[0]?.status === 'rejected' && refused[0].reason.code, 'unavailable');
  // A request that has ended counts no longer.
  await Promise.all(Array.from({ length: 32 }, () => ask(mailbox('a1', 'a'))));
});

test('a message that is being read is never cut off because many others ask', async () => {
  const reader = mailbox('r', 'r');
  const busy = slowAccess();
  const crowd = Array.from({ length: 8 }, (_, tenant) =>
    Array.from({ length: 20 }, () =>
      busy.access.call(mailbox(`m${tenant}`, `t${tenant}`), 'listFolders', {}),
    ),
  ).flat();
  const settled = Promise.allSettled(crowd);
  await assert.rejects(busy.access.call(reader, 'readOctets', { id: 'M1', offset: 0 }), {
    code: 'unavailable',
  });
  const piece = busy.access.readOn(reader, { id: 'M1', offset: 1 });
  busy.open();
  assert.equal((await piece).length, 1);
  await settled;
});
