/** A broadcast shows whom it reaches, how large it is and what may go wrong, before it is sent. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { createLinks } from '../../src/links/links.ts';
import type { Fetch } from '../../src/system/fetch.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';
import { copiesOf, SANDBOX, TAG } from './fixtures.ts';
import { workOff } from './sending/campaign.ts';

const ours: Fetch = async () => ({
  ...{ status: 404, headers: { 'x-request-id': 'req_1' }, body: Buffer.alloc(0), truncated: false },
});

const web = { asked: 0, answer: ours };
const fetch: Fetch = (request) => {
  web.asked += 1;
  return web.answer(request);
};
const spool = await openSpool({ system: { fetch } });
after(() => spool.close());

const ask = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
  spool.request(method, `/v1${path}`, { key: spool.liveKey, ...(body !== undefined && { body }) });

async function idOf(path: string, body: object): Promise<string> {
  const made = await ask('POST', path, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

const audienceId = await idOf('/audiences', { name: 'Readers' });
const topicId = await idOf('/topics', { name: 'News', defaultOptIn: true });
const FROM = `Ada <ada@${SENDER_DOMAIN}>`;
const draft = (more: object = {}) =>
  idOf('/broadcasts', {
    ...{ audienceId, topicId, from: FROM, subject: 'News for {{firstName|friend}}' },
    ...{ html: `<p>Hello {{firstName|friend}}</p><a href="${TAG}">Leave</a>`, ...more },
  });

async function preflight(id: string) {
  const { status, body } = await ask('GET', `/broadcasts/${id}/preflight`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

type Published = { type: string; name: string; value: string; alternative?: Published };
/** Advances the clock once all writes are done: a write that waits meanwhile would look like a slow disk. */
async function advance(ms: number): Promise<void> {
  await draft();
  await spool.clock.advance(ms);
}

const codes = ({ warnings }: { warnings: { code: string }[] }) => warnings.map(({ code }) => code);
const contact = (fields: object, audience = audienceId) => idOf(`/audiences/${audience}/contacts`, fields);

test('everybody is counted once: who gets the broadcast, and the others by the first reason', async () => {
  await contact({ email: 'plain@rcpt.example' });
  await spool.clock.advance(1);
  const newest = await contact({ email: 'newest@rcpt.example', firstName: '<Bea>' });
  await spool.clock.advance(1);
  await contact({ email: 'left@rcpt.example', unsubscribed: true });
  const optOut = { topics: [{ id: topicId, subscription: 'opt_out' }] };
  await contact({ email: 'out@rcpt.example', ...optOut });
  await contact({ email: 'bad@rcpt.example', unsubscribed: true });
  await idOf('/suppressions', { email: 'bad@rcpt.example' });
  const found = await preflight(await draft());
  assert.deepEqual(
    { contacts: found.contacts, recipients: found.recipients, excluded: found.excluded },
    { contacts: 5, recipients: 2, excluded: { suppressed: 1, unsubscribed: 1, optedOut: 1, notOptedIn: 0 } },
  );
  assert.equal(found.sample.contactId, newest);
  assert.equal(found.sample.subject, 'News for <Bea>');
  assert.deepEqual(found.warnings, []);

  const rare = await idOf('/topics', { name: 'Rare', defaultOptIn: false });
  const { recipients, excluded } = await preflight(await draft({ topicId: rare }));
  assert.deepEqual([recipients, excluded.notOptedIn, excluded.optedOut], [0, 3, 0]);
});

test('a segment is counted alone', async () => {
  const filter = { op: 'and', rules: [{ field: 'firstName', cmp: 'eq', value: '<bea>' }] };
  const segmentId = await idOf('/segments', { name: 's', audienceId, filter });
  const { contacts, recipients } = await preflight(await draft({ audienceId: undefined, segmentId }));
  assert.deepEqual([contacts, recipients], [1, 1]);
});

test('the size is that of the message as it leaves, with its signature', async () => {
  const html = `<p>Grüße, {{firstName|friend}} ${'\u{1f600}'.repeat(400)}</p><a href="${TAG}">Leave</a>`;
  const id = await draft({ html, replyTo: 'Re <re@rcpt.example>' });
  const { sample } = await preflight(id);
  const sent = await ask('POST', `/broadcasts/${id}/test`, {
    ...{ to: ['newest@rcpt.example'], contactId: sample.contactId },
  });
  assert.equal(sent.body.data[0].status, 'queued');
  const raw = (await copiesOf(spool)).get('newest@rcpt.example');
  assert.equal(sample.sizeBytes, raw?.length);
  assert.ok(sample.htmlBytes > 1_600 && sample.htmlBytes < sample.sizeBytes);
});

test('the links are listed as they are written, and the size has what tracking adds', async () => {
  const audience = await idOf('/audiences', { name: 'Tracked' });
  await contact({ email: 'tracked@rcpt.example', firstName: 'Ben' }, audience);
  const html = `<p><a href="https://shop.example/?a=1&amp;for={{firstName}}">Shop</a>
    <a href="https://plain.example/" clicktracking="off">Plain</a> <a href="mailto:a@b.example">Mail</a>
    <a href="${TAG}">Leave</a></p>`;
  const id = await draft({ html, audienceId: audience });
  const urls = ['https://shop.example/?a=1&for={{firstName}}', 'https://plain.example/'];
  const off = await preflight(id);
  assert.deepEqual(
    off.links,
    urls.map((url) => ({ url, isTracked: false })),
  );
  const [domain] = (await ask('GET', '/domains')).body.data;
  const setTracking = async (on: boolean) => {
    const settings = { openTracking: on, clickTracking: on };
    assert.equal((await ask('PATCH', `/domains/${domain.id}`, settings)).status, 200);
  };
  await setTracking(true);
  const { links, sample } = await preflight(id);
  assert.deepEqual(links, [
    { url: urls[0], isTracked: true },
    { url: urls[1], isTracked: false },
  ]);
  assert.ok(sample.htmlBytes > off.sample.htmlBytes + 100);
  assert.equal((await ask('POST', `/broadcasts/${id}/send`)).status, 200);
  await workOff(spool);
  const raw = (await copiesOf(spool)).get('tracked@rcpt.example');
  assert.equal(sample.sizeBytes, raw?.length);
  await setTracking(false);
});

test('without a recipient, the fallbacks fill in the sample', async () => {
  const empty = await idOf('/audiences', { name: 'Empty' });
  const { contacts, recipients, sample } = await preflight(await draft({ audienceId: empty }));
  assert.deepEqual([contacts, recipients, sample.contactId, sample.subject], [0, 0, null, 'News for friend']);
});

test('warned of: HTML that Gmail clips, and no topic', async () => {
  const large = `${TAG}${'x'.repeat(99_000)}`;
  const small = await preflight(await draft({ html: large }));
  assert.deepEqual(codes(small), []);
  assert.deepEqual(codes(await preflight(await draft({ html: `${large}${'x'.repeat(1_500)}` }))), [
    'html_too_large',
  ]);
  assert.deepEqual(codes(await preflight(await draft({ topicId: null }))), ['no_topic']);
});

test('warned of: a sender who has sent transactional mail in the last 30 days', async () => {
  const from = `shop@${SENDER_DOMAIN}`;
  const id = await draft({ from: `Shop <SHOP@${SENDER_DOMAIN}>` });
  assert.deepEqual(codes(await preflight(id)), []);
  await spool.accept('buyer@rcpt.example', { from });
  assert.deepEqual(codes(await preflight(id)), ['shared_sender']);
  assert.deepEqual(codes(await preflight(await draft())), []);
  await advance(31 * 86_400_000);
  assert.deepEqual(codes(await preflight(id)), []);
});

test('warned of: records of the domain that are no longer found, and the sandbox, whose mail is not signed', async () => {
  await spool.addDomain(spool.liveKey, 'shaky.example');
  const [domain] = (await ask('GET', '/domains?name=shaky.example')).body.data;
  const id = await draft({ from: 'a@shaky.example' });
  assert.deepEqual(codes(await preflight(id)), []);
  const lost = async (record: 'DKIM' | 'DMARC') => {
    const kept = domain.records.filter((one: { record: string }) => one.record !== record);
    const published = kept.map((one: Published) => one.alternative ?? one);
    spool.dns.setZone(
      published
        .map(
          ({ name, type, value }: Published) =>
            `${name} ${type} ${type === 'TXT' ? JSON.stringify(value) : value}`,
        )
        .join('\n'),
    );
    await ask('POST', `/domains/${domain.id}/verify`);
    const [warning] = (await preflight(id)).warnings;
    assert.equal(warning.code, 'no_dmarc_alignment');
    return warning.message;
  };
  assert.match(await lost('DMARC'), /^The DMARC record of shaky\.example was not found/);
  assert.match(await lost('DKIM'), /^The DKIM record of shaky\.example was not found/);
  const body = { audienceId, topicId, from: `a@${SANDBOX}`, subject: 's', html: TAG };
  const made = await spool.request('POST', '/v1/broadcasts', { body });
  const { body: sandbox } = await spool.request('GET', `/v1/broadcasts/${made.body.id}/preflight`);
  assert.deepEqual(codes(sandbox), ['no_dmarc_alignment']);
});

test('warned of: links that lead nowhere', async () => {
  web.answer = () => Promise.reject(new Error('connect ECONNREFUSED'));
  const id = await draft();
  await advance(60_000);
  const [warning] = (await preflight(id)).warnings;
  assert.deepEqual(
    [warning.code, warning.message],
    [
      'links_unreachable',
      'Links lead to https://track.mx.postrider.example, which does not answer (connect ECONNREFUSED), so readers cannot unsubscribe',
    ],
  );
  web.answer = ours;
  await advance(60_000);
  assert.deepEqual(codes(await preflight(id)), []);
});

test('a broadcast that cannot be sent is refused as sending would refuse it', async () => {
  const gone = await idOf('/topics', { name: 'Gone' });
  const id = await draft({ topicId: gone });
  await ask('DELETE', `/topics/${gone}`);
  const { status, body } = await ask('GET', `/broadcasts/${id}/preflight`);
  assert.deepEqual([status, body.error?.type, body.error?.param], [400, 'validation_error', 'topicId']);
});

test('tags that nothing understands and properties that no contact has are named', async () => {
  const audience = await idOf('/audiences', { name: 'Members' });
  await contact({ email: 'eve@readers.example', properties: { plan: 'gold', cityName: 'Rome' } }, audience);
  const html = `<p>{{#each items}}{{> item}}{{/each}} {{firstNme|you}} {{city_name}} {{#if plan}}{{plan}}{{else}}{{email}}{{/if}}</p><a href="${TAG}">Leave</a>`;
  const { warnings } = await preflight(await draft({ audienceId: audience, html }));
  const messageOf = (code: string) => warnings.find((one: { code: string }) => one.code === code)?.message;
  assert.match(messageOf('unknown_tags'), /: \{\{#each items\}\}, \{\{> item\}\}, \{\{\/each\}\}\./);
  assert.match(
    messageOf('unknown_properties'),
    /for `firstNme`, `city_name` \(did you mean `cityName`\?\)\. Contacts have email, firstName/,
  );
  const right = await preflight(await draft({ audienceId: audience }));
  assert.ok(!codes(right).some((code) => code.startsWith('unknown')));
});

const readers = await idOf('/audiences', { name: 'Readers' });
const html = `<p>Hello {{firstName|friend}} of {{city|nowhere}}</p><a href="${TAG}">Leave</a>`;
const draftOfTest = (more: object = {}) =>
  idOf('/broadcasts', {
    ...{ audienceId: readers, topicId, from: `Ada <ada@${SENDER_DOMAIN}>`, replyTo: `re@${SENDER_DOMAIN}` },
    ...{ subject: 'News for {{firstName|friend}}', html, ...more },
  });

const reader = { email: 'reader@rcpt.example', firstName: '<Bea>\u{1f600}', properties: { city: 'Bern' } };
const contactId = await idOf(`/audiences/${readers}/contacts`, reader);
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
  const id = await draftOfTest();
  const shown = (await ask('GET', `/broadcasts/${id}`)).body;
  const contact = (await ask('GET', `/audiences/${readers}/contacts/${contactId}`)).body;
  const to = ['Ann <ann@rcpt.example>', 'bob@rcpt.example'];
  const before = await copiesOf(spool);
  const sent = await send(id, { to, contactId });
  assert.deepEqual(
    sent.map((item) => [item.to, item.status]),
    to.map((address) => [address, 'queued']),
  );
  const raws = new Map([...(await copiesOf(spool))].filter(([address]) => !before.has(address)));
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
  assert.deepEqual((await ask('GET', `/audiences/${readers}/contacts/${contactId}`)).body, contact);
  const email = await spool.email(sent[0]?.id ?? '');
  assert.deepEqual([email.type, email.topicId, email.broadcastId], ['broadcast', topicId, null]);
});

test('a test has the header fields of a copy, with a topic and without one', async () => {
  for (const [more, list, name] of [
    [{}, topicId, 'News '],
    [{ topicId: null }, readers, ''],
  ] as const) {
    const id = await draftOfTest(more);
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
  const id = await draftOfTest();
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
    await send(await draftOfTest(), { to: ['carl@rcpt.example'], ...more });
    const raw = (await copiesOf(spool)).get('carl@rcpt.example');
    assert.ok(raw);
    const parsed = await simpleParser(raw);
    assert.equal(parsed.subject, 'News for friend');
    assert.ok(String(parsed.html).startsWith('<p>Hello friend of nowhere</p>'));
  }
});

test('a template is rendered as the broadcast would render it', async () => {
  const templateId = await idOf('/templates', { name: 'n', subject: 'unused', html, text: `Plain ${TAG}` });
  await send(await draftOfTest({ html: undefined, templateId }), { to: ['dora@rcpt.example'], contactId });
  const raw = (await copiesOf(spool)).get('dora@rcpt.example');
  assert.ok(raw);
  const parsed = await simpleParser(raw);
  assert.ok(String(parsed.html).includes('of Bern'));
  assert.match(parsed.text ?? '', /^Plain https:/);
});

test('an address that is named twice gets one test, and one that is suppressed is refused alone', async () => {
  await idOf('/suppressions', { email: 'eve@rcpt.example' });
  const id = await draftOfTest();
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
  const sent = await send(await draftOfTest(), { to: ['gus@rcpt.example', 'hal@rcpt.example'] });
  assert.deepEqual(
    sent.map((item) => item.error?.type ?? item.status),
    ['queued', 'quota_exceeded'],
  );
  await limit(null);
  assert.deepEqual([...(await copiesOf(spool)).keys()], ['gus@rcpt.example']);
});

test('tests are refused for addresses that are none, for too many, and for contacts of other audiences', async () => {
  const id = await draftOfTest();
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

test('a draftOfTest whose template or topic was deleted is not sent as a test', async () => {
  const templateId = await idOf('/templates', { name: 'n', subject: 'unused', html });
  const gone = await idOf('/topics', { name: 'Gone' });
  const id = await draftOfTest({ html: undefined, templateId, topicId: gone });
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
