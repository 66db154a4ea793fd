/** Received mail, and the files of mail that was sent, by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { newId } from '../../../src/system/ids.ts';
import { addDomain } from '../../domains/fixtures.ts';
import { addReceived } from '../../inbound/fixtures.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { freePort } from '../../support/loopback.ts';
import { openTestApp } from '../../support/test-app.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const clock = createFakeClock(1_800_000_000_000);
const port = await freePort();
const origin = `http://127.0.0.1:${port}`;
const testApp = await openTestApp({ system: { clock }, env: { POSTRIDER_HTTP_PUBLIC_URL: origin } });
after(() => testApp.close());
await addDomain(testApp, { name: 'shop.example', status: 'verified', id: newId('dom', 0) });
const resend = (await clientsOf(testApp, port))();
const { receiving } = resend.emails;

test('a received message is listed and shown, and its files and its whole are downloaded by links', async () => {
  const id = await addReceived(testApp);
  const page = await dataOf(receiving.list() as Parameters<typeof dataOf>[0]);
  assert.deepEqual(page, {
    ...{ object: 'list', has_more: false },
    data: [
      {
        ...{ id, from: 'ann@sender.example', to: ['Sales@shop.example'], subject: 'Hello' },
        ...{ received_for: ['Sales@shop.example'], created_at: new Date(clock.now()).toISOString() },
      },
    ],
  });
  const shown = await dataOf(receiving.get(id));
  assert.deepEqual(
    [shown.object, shown.from, shown.to, shown.text, shown.html],
    ['email', 'Ann <ann@sender.example>', ['sales@shop.example'], 'Hi', null],
  );
  assert.equal(shown.headers?.['return-path'], '<ann@sender.example>');
  const expected = { id: '1', filename: 'list.csv', size: 3, content_type: 'text/csv' };
  const more = { content_id: null, content_disposition: 'attachment' };
  assert.deepEqual(shown.attachments, [{ ...expected, ...more }]);
  const raw = await (await fetch(shown.raw?.download_url ?? '')).text();
  assert.match(raw, /^Return-Path: <ann@sender\.example>\r\n/);

  const files = await dataOf(receiving.attachments.list({ emailId: id }));
  const [file] = files.data;
  assert.ok(file);
  const { download_url, expires_at, ...fields } = file;
  assert.deepEqual(fields, { ...expected, ...more });
  assert.equal(Date.parse(expires_at), clock.now() + 86_400_000);
  assert.equal((await (await fetch(download_url)).text()).length, 3);
  assert.equal((await dataOf(receiving.attachments.get({ emailId: id, id: '1' }))).object, 'attachment');
  const missing = receiving.attachments.get({ emailId: id, id: '2' });
  assert.match(await refusalOf(missing), /^404 not_found: Attachment not found$/);
  assert.match(await refusalOf(receiving.get('in_nothing')), /^404 not_found: /);
});

test('a received message is forwarded by the client, which sends what it has downloaded', async () => {
  const id = await addReceived(testApp);
  const from = 'a@sandbox.mx.postrider.example';
  const sent = await dataOf(receiving.forward({ emailId: id, from, to: 'bob@rcpt.example' }));
  const { body } = await testApp.request('GET', `/v1/emails/${sent.id}`);
  assert.deepEqual([body.subject, body.attachments[0].filename], ['Hello', 'list.csv']);
  const wrapped = {
    emailId: id,
    from,
    to: 'bob@rcpt.example',
    passthrough: false,
    text: 'See below',
  } as const;
  const other = await testApp.request('GET', `/v1/emails/${(await dataOf(receiving.forward(wrapped))).id}`);
  assert.equal(other.body.attachments[0].filename, 'forwarded_message.eml');
});

test('the files of an email that was sent are listed, with links that take the key', async () => {
  const { id } = await dataOf(
    resend.emails.send({
      ...{
        from: 'a@sandbox.mx.postrider.example',
        to: 'bob@rcpt.example',
        subject: 'Files',
        html: '<p>See</p>',
      },
      attachments: [
        { filename: 'a.txt', content: Buffer.from('text') },
        { filename: 'b.png', content: Buffer.from('image'), contentId: 'logo' },
      ],
    }),
  );
  const { data } = await dataOf(resend.emails.attachments.list({ emailId: id }));
  const url = `${origin}/v1/emails/${id}/attachments`;
  assert.deepEqual(data, [
    {
      ...{
        id: '1',
        filename: 'a.txt',
        size: 4,
        content_type: 'text/plain',
        content_disposition: 'attachment',
      },
      ...{ download_url: `${url}/1`, expires_at: null },
    },
    {
      ...{ id: '2', filename: 'b.png', size: 5, content_type: 'image/png', content_disposition: 'inline' },
      ...{ content_id: 'logo', download_url: `${url}/2`, expires_at: null },
    },
  ]);
  const headers = { authorization: `Bearer ${testApp.testKey}` };
  assert.equal(await (await fetch(`${url}/1`, { headers })).text(), 'text');
  assert.equal((await dataOf(resend.emails.attachments.get({ emailId: id, id: '2' }))).filename, 'b.png');
  for (const missing of ['3', '0', 'x'])
    assert.match(
      await refusalOf(resend.emails.attachments.get({ emailId: id, id: missing })),
      /^404 not_found: Attachment not found$/,
    );
});
