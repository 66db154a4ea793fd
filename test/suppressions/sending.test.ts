/** A suppressed address is never sent to (specification 1 and 7), whatever the reason, until it is taken off the list. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SIMULATOR } from '../emails/fixtures.ts';
import { openSpool, SENDER_DOMAIN, type Spool } from '../support/spool.ts';

let spool: Spool;
before(async () => {
  spool = await openSpool();
});
after(() => spool.close());

const send = (to: string[]) =>
  spool.request('POST', '/v1/emails', {
    key: spool.liveKey,
    body: { from: `a@${SENDER_DOMAIN}`, to, subject: 's', text: 't', type: 'transactional' },
  });

for (const reason of ['manual', 'bounce', 'complaint', 'unsubscribe']) {
  test(`an address suppressed as ${reason} gets no mail until it is removed`, async () => {
    const address = `delivered+${reason}@${SIMULATOR}`;
    const added = await spool.request('POST', '/v1/suppressions', { body: { email: address, reason } });
    assert.equal(added.status, 201);
    const refused = await send([address.toUpperCase()]);
    assert.deepEqual([refused.status, refused.body.error.type], [422, 'suppressed_recipient']);
    const among = await send([address, `delivered@${SIMULATOR}`]);
    assert.equal(among.status, 200);
    await spool.deliverDue();
    type Recipient = { email: string; status: string };
    assert.deepEqual(
      (await spool.email(among.body.id)).recipients.map(({ email, status }: Recipient) => [email, status]),
      [
        [address, 'suppressed'],
        [`delivered@${SIMULATOR}`, 'delivered'],
      ],
    );
    const { status } = await spool.request('DELETE', `/v1/suppressions/${added.body.id}`);
    assert.equal(status, 204);
    const free = await send([address]);
    await spool.deliverDue();
    assert.equal((await spool.email(free.body.id)).status, 'delivered');
  });
}
