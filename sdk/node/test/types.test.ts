/** The types say what programs may write. The compiler checks them; the test runs them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Email, type Page, type Topic, type WebhookEvent, webhooks } from '../src/index.ts';
import { EMAIL, json, serve } from './server.ts';

test('the type of an event tells which data it has', async () => {
  const body = '{"type":"email.bounced","data":{"to":"b@y.test","bounce":{"class":"x"}}}';
  const event: WebhookEvent = await webhooks.verify(body, await webhooks.sign(body, 'secret'), 'secret');
  assert.ok(event.type === 'email.bounced');
  const to: string = event.data.to;
  assert.equal(to, 'b@y.test');
});

test('answers have types, which allow what a newer server adds, and wrong fields are found', async () => {
  await using server = await serve((_, response) =>
    json(response, { data: [], hasMore: false, status: 'new' }),
  );
  const client = server.client();
  const page: Page<Topic> = await client.topics.list({ limit: 1 });
  const { status }: Email = await client.emails.get('em_1');
  const isNew: boolean = status === 'new' || status === 'bounced';
  assert.deepEqual([page.data, isNew], [[], true]);
  // @ts-expect-error There is no such query.
  await client.topics.list({ colour: 'blue' });
  // @ts-expect-error A sender is a string.
  await client.emails.send({ ...EMAIL, from: 1 });
});
