/** A draft is sent to a few addresses as a contact would get it, and nothing of the broadcast changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { createLinks } from '../../src/links/links.ts';
import { openSpool, SENDER_DOMAIN, type Spool } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';
import { copiesOf, TAG } from './fixtures.ts';

let spool: Spool;
let audienceId: string;
let topicId: string;
let contactId: string;

const ask = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
  spool.request(method, `/v1${path}`, { key: spool.liveKey, ...(body !== undefined && { body }) });

async function idOf(path: string, body: object): Promise<string> {
  const made = await ask('POST', path, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

const html = `<p>Hello {{firstName|friend}} of {{city|nowhere}}</p><a href="${TAG}">Leave</a>`;
const draft = (more: object = {}) =>
  idOf('/broadcasts', {
    ...{ audienceId, topicId, from: `Ada <ada@${SENDER_DOMAIN}>`, replyTo: `re@${SENDER_DOMAIN}` },
    ...{ subject: 'News for {{firstName|friend}}', html, ...more },
  });

before(async () => {
  spool = await openSpool();
  audienceId = await idOf('/audiences', { name: 'Readers' });
  topicId = await idOf('/topics', { name: 'News', defaultOptIn: true });
  const contact = { email: 'reader@rcpt.example', firstName: '<Bea>\u{1f600}', properties: { city: 'Bern' } };
  contactId = await idOf(`/audiences/${audienceId}/contacts`, contact);
});
after(() => spool.close());

/** Sends a test and returns its items. */
async function send(id: string, body: object) {
  const answer = await ask('POST', `/broadcasts/${id}/test`, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body.data as {
    to: string;
    id: string;
    status: string;
    error?: { type: string; message: string };
  }[];
}

test('each address gets a message of its own, filled in with the values of the contact', async () => {
  const id = await draft();
  const shown = (await ask('GET', `/broadcasts/${id}`)).body;
  const contact = (await ask('GET', `/audiences/${audienceId}/contacts/${contactId}`)).body;
  const to = ['Ann <ann@rcpt.example>', 'bob@rcpt.example'];
  const sent = await send(id, { to, contactId });
  assert.deepEqual(
    sent.map((item) => [item.to, item.status]),
    to.map((address) => [address, 'queued']),
  );
  const raws = await copiesOf(spool);
  assert.deepEqual([...raws.keys()].sort(), ['ann@rcpt.example', 'bob@rcpt.example']);
  for (const [address, raw] of raws) {
    const parsed = await simpleParser(raw);
    assert.equal(parsed.subject, 'News for <Bea>\u{1f600}');
    const link = /<(https:[^>]+)>/.exec(String(parsed.headers.get('list')?.valueOf() && raw))?.[1] ?? '';
    assert.ok(
      String(parsed.html).startsWith('<p>Hello &lt;Bea&gt;\u{1f600} of Bern</p>'),
      String(parsed.html),
    );
    assert.deepEqual(
      [parsed.to].flat().flatMap((one) => one?.value.map((mailbox) => mailbox.address)),
      [address],
    );
    assert.equal(parsed.replyTo?.text, `re@${SENDER_DOMAIN}`);
    const token = link.split('/u/')[1] ?? '';
    assert.deepEqual(createLinks(spool.app).openUnsubscribeToken(token), {
      ...{ tenantId: spool.tenantId, topicId, contactId: undefined, address },
    });
  }
  assert.deepEqual((await ask('GET', `/broadcasts/${id}`)).body, shown, 'the broadcast is unchanged');
  assert.deepEqual((await ask('GET', `/audiences/${audienceId}/contacts/${contactId}`)).body, contact);
  const email = await spool.email(sent[0]?.id ?? '');
  assert.deepEqual([email.type, email.topicId, email.broadcastId], ['broadcast', topicId, null]);
});

test('a test has the header fields of a copy, with a topic and without one', async () => {
  for (const [more, list, name] of [
    [{}, topicId, 'News '],
    [{ topicId: null }, audienceId, ''],
  ] as const) {
    const id = await draft(more);
    await send(id, { to: ['ida@rcpt.example'] });
    const raw = (await copiesOf(spool)).get('ida@rcpt.example')?.toString('latin1') ?? '';
    const header = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n(?=[ \t])/g, '');
    assert.match(header, new RegExp(`^List-Id: ${name}<${list}\\.mx\\.postrider\\.example>\r$`, 'm'));
    assert.match(header, new RegExp(`^Feedback-ID: ${id}:${list}:${spool.tenantId}:\\w+\r$`, 'm'));
    assert.match(header, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const token = /^List-Unsubscribe: <https:[^>]*\/u\/([^>]+)>/m.exec(header)?.[1] ?? '';
    const opened = createLinks(spool.app).openUnsubscribeToken(token);
    assert.deepEqual(
      [opened?.topicId, opened?.contactId, opened?.address],
      [more.topicId === null ? undefined : topicId, undefined, 'ida@rcpt.example'],
    );
    assert.ok(!raw.includes('unsubscribe_url'));
  }
});

test('a broadcast that was started or canceled is neither tested nor shown before it is sent', async () => {
  const id = await draft();
  await ask('POST', `/broadcasts/${id}/send`);
  for (const [method, path] of [
    ['POST', 'test'],
    ['GET', 'preflight'],
  ] as const) {
    const body = method === 'POST' ? { to: ['ida@rcpt.example'] } : undefined;
    const answer = await ask(method, `/broadcasts/${id}/${path}`, body);
    assert.deepEqual([answer.status, answer.body.error.type], [409, 'invalid_state']);
  }
});

test('without a contact, the fallbacks of the merge tags apply', async () => {
  for (const more of [{}, { contactId: null }]) {
    await send(await draft(), { to: ['carl@rcpt.example'], ...more });
    const raw = (await copiesOf(spool)).get('carl@rcpt.example');
    assert.ok(raw);
    const parsed = await simpleParser(raw);
    assert.equal(parsed.subject, 'News for friend');
    assert.ok(String(parsed.html).startsWith('<p>Hello friend of nowhere</p>'));
  }
});

test('a template is rendered as the broadcast would render it', async () => {
  const templateId = await idOf('/templates', { name: 'n', subject: 'unused', html, text: `Plain ${TAG}` });
  await send(await draft({ html: undefined, templateId }), { to: ['dora@rcpt.example'], contactId });
  const raw = (await copiesOf(spool)).get('dora@rcpt.example');
  assert.ok(raw);
  const parsed = await simpleParser(raw);
  assert.ok(String(parsed.html).includes('of Bern'));
  assert.match(parsed.text ?? '', /^Plain https:/);
});

test('an address that is named twice gets one test, and one that is suppressed is refused alone', async () => {
  await idOf('/suppressions', { email: 'eve@rcpt.example' });
  const id = await draft();
  const sent = await send(id, { to: ['Fay@rcpt.example', 'fay@RCPT.example', 'eve@rcpt.example'] });
  assert.deepEqual(
    sent.map((item) => [item.to, item.status, item.error?.type]),
    [
      ['Fay@rcpt.example', 'queued', undefined],
      ['eve@rcpt.example', 'failed', 'suppressed_recipient'],
    ],
  );
  await copiesOf(spool);
});

test('each address counts towards the quota, and those beyond it are refused alone', async () => {
  const limit = async (monthlyEmails: number | null) => {
    await storePlan(spool.app.db, 'unlimited', { monthlyEmails });
    spool.app.wakeups.notify('tenants');
  };
  await limit(1);
  const sent = await send(await draft(), { to: ['gus@rcpt.example', 'hal@rcpt.example'] });
  assert.deepEqual(
    sent.map((item) => item.error?.type ?? item.status),
    ['queued', 'quota_exceeded'],
  );
  await limit(null);
  assert.deepEqual([...(await copiesOf(spool)).keys()], ['gus@rcpt.example']);
});

test('tests are refused for addresses that are none, for too many, and for contacts of other audiences', async () => {
  const id = await draft();
  const other = await idOf('/audiences', { name: 'Others' });
  const foreign = await idOf(`/audiences/${other}/contacts`, { email: 'reader@rcpt.example' });
  const to = ['ann@rcpt.example'];
  const eleven = Array.from({ length: 11 }, (_, index) => `a${index}@rcpt.example`);
  for (const [body, param] of [
    [{}, 'to'],
    [{ to: [] }, 'to'],
    [{ to: 'ann@rcpt.example' }, 'to'],
    [{ to: eleven }, 'to'],
    [{ to: [...to, 'nobody'] }, 'to[1]'],
    [{ to: ['a@rcpt.example, b@rcpt.example'] }, 'to[0]'],
    [{ to: ['a@rcpt.example\r\nBcc: b@rcpt.example'] }, 'to[0]'],
    [{ to, contactId: foreign }, 'contactId'],
    [{ to, contactId: 'reader@rcpt.example' }, 'contactId'],
    [{ to, contactId: 7 }, 'contactId'],
  ] as const) {
    const { status, body: answer } = await ask('POST', `/broadcasts/${id}/test`, body);
    assert.deepEqual([status, answer.error?.param], [400, param], JSON.stringify(answer));
  }
  assert.equal((await copiesOf(spool)).size, 0);
});

test('a draft whose template or topic was deleted is not sent as a test', async () => {
  const templateId = await idOf('/templates', { name: 'n', subject: 'unused', html });
  const gone = await idOf('/topics', { name: 'Gone' });
  const id = await draft({ html: undefined, templateId, topicId: gone });
  const refusal = async () => {
    const { status, body } = await ask('POST', `/broadcasts/${id}/test`, { to: ['ann@rcpt.example'] });
    return [status, body.error?.type, body.error?.param];
  };
  await ask('DELETE', `/topics/${gone}`);
  assert.deepEqual(await refusal(), [400, 'validation_error', 'topicId']);
  await ask('PATCH', `/broadcasts/${id}`, { topicId: null });
  await ask('DELETE', `/templates/${templateId}`);
  assert.deepEqual(await refusal(), [400, 'validation_error', 'templateId']);
});
