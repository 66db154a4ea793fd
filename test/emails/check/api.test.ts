import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createChecker } from '../../../src/emails/check/checker.ts';
import { type Clock, realClock } from '../../../src/system/clock.ts';
import { openSpool } from '../../support/spool.ts';

const FROM = 'Ada <ada@sandbox.mx.postrider.example>';
const TO = 'delivered@simulator.mx.postrider.example';
const spool = await openSpool();
const stranger = await spool.addTenant('stranger');
const { testKey: key, liveKey } = spool;
after(() => spool.close());

const accept = (more: object, to: string | string[] = TO) => spool.accept(to, { key, from: FROM, ...more });
const check = (id: string, query = '', by = key) =>
  spool.request('GET', `/v1/emails/${id}/check${query}`, { key: by });

test('an email is checked with its header as it is sent, in the sizes that it has', async () => {
  const html = '<p>Grüße, {{name}}</p>\n<a href="http://a.com/">A</a>';
  const id = await accept({ subject: 'Grüße', text: undefined, html });
  const { status, body } = await check(id);
  assert.equal(status, 200, JSON.stringify(body));
  const raw = await spool.inject({
    url: `/v1/emails/${id}/raw`,
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(body.sizeBytes, raw.rawPayload.length);
  assert.equal(body.htmlBytes, Buffer.byteLength(html));
  assert.ok(body.textBytes > 10);
  const headers = new Map(body.headers.map(({ name, value }: Record<string, string>) => [name, value]));
  assert.equal(headers.get('Subject'), 'Grüße');
  assert.equal(headers.get('To'), TO);
  assert.ok(headers.get('Message-ID') && headers.get('Date'));
  assert.deepEqual(
    body.findings.map(({ code, places: [place] }: { code: string; places: { line: number }[] }) => [
      code,
      place?.line,
    ]),
    [
      ['placeholder_left', 1],
      ['link_http', 2],
      ['dkim_missing', undefined],
    ],
  );
  assert.deepEqual([body.links.length, body.linksOmitted], [1, 0]);
});

test('marketing mail with the link of its reader has nothing to mend, and without it has', async () => {
  const topic = await spool.request('POST', '/v1/topics', {
    key,
    body: { name: 'News', defaultOptIn: true },
  });
  const marketing = { type: 'broadcast', topicId: topic.body.id, text: undefined };
  const full = await accept({
    ...marketing,
    html: '<p>News</p><a href="{{{unsubscribe_url}}}">Unsubscribe</a>',
  });
  const codesOf = async (id: string): Promise<string[]> =>
    (await check(id)).body.findings.map(({ code }: { code: string }) => code);
  const found = await codesOf(full);
  assert.ok(!found.some((code) => /unsubscribe|placeholder|link/.test(code)), found.join());
  const without = await accept({ ...marketing, html: '<p>News</p>' });
  assert.ok((await codesOf(without)).includes('unsubscribe_missing'));
});

test('variables without a value are named', async () => {
  const id = await accept({ text: 'Hello {{name}}', variables: { other: 'x' } });
  const finding = (await check(id)).body.findings.find(
    ({ code }: { code: string }) => code === 'variable_empty',
  );
  assert.deepEqual(finding.places, [{ line: null, text: 'name' }]);
});

test('an email of another tenant or of the other mode is not found', async () => {
  const id = await accept({});
  for (const by of [liveKey, stranger.testKey]) assert.equal((await check(id, '', by)).status, 404);
  assert.equal((await check(id, '?recipient=eve@rcpt.example')).status, 400);
});

const HTML_CHARACTERS = 2 * 1024 * 1024;
/** A clock that waits for the thread for as long as a busy machine needs to start it, and ends a job at its time limit. */
const patientClock: Clock = {
  ...realClock,
  after: (delayMs, run) => realClock.after(delayMs > 2_000 ? 300_000 : delayMs, run),
};

test('hostile HTML ends with a finding after the time limit, and the next check gets a new thread', async () => {
  const checker = createChecker({ log: spool.app.log, clock: patientClock });
  const input = {
    ...{ fields: [], text: 'x', sizeBytes: 1, isMarketing: false, unsubscribeUrl: null },
    missingVariables: [],
  };
  // The parser moves all open elements for each further one.
  const nested = await checker.check({ ...input, html: '<b>'.repeat(HTML_CHARACTERS / 3) }, 'ten_1');
  assert.deepEqual(
    nested.findings.map(({ code }) => code),
    ['html_too_complex'],
  );
  const other = await checker.check({ ...input, html: null }, 'ten_2');
  assert.ok(other.findings.some(({ code }) => code === 'subject_missing'));
  await checker.close();
});
