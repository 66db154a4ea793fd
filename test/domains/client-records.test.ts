import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientRecordsToPublish, judgeSrv } from '../../src/domains/client-records.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { addDomain, zoneOf } from './fixtures.ts';

const HOST = 'mx.postrider.example';
const clock = createFakeClock(Date.parse('2026-05-01T10:00:00Z'));
const dns = zoneDns('');
const t = await openTestApp({ system: { dns, clock } });
after(() => t.close());
const { config } = t.app;

type Shown = {
  purpose: string;
  record: string;
  type: string;
  name: string;
  value: string;
  priority: number;
  weight: number;
  port: number;
  status: string;
  found: string[];
  error: string | null;
};

const lineOf = ({ type, name, value, priority, weight, port }: Shown) =>
  type === 'SRV' ? `${name} SRV ${priority} ${weight} ${port} ${value}` : `${name} ${type} ${value}`;

/** Returns the records for mail programs in a domain as the API shows it. */
function clientsOf(body: { optionalRecords: Shown[] }): Shown[] {
  return body.optionalRecords.filter(({ purpose }) => purpose === 'clients');
}

test('a domain with mailboxes shows the records by which mail programs find the services of the configuration', () => {
  const at = {
    hostname: 'MX.Postrider.example',
    imap: { ...config.imap, port: 993 },
    pop3: { ...config.pop3, port: 995 },
    submission: { ...config.submission, port: 587, tlsPort: 465 },
    managesieve: { ...config.managesieve, port: 4190 },
  };
  const lines = (given = at, productType: 'api' | 'mailbox' | 'both' = 'both') =>
    clientRecordsToPublish(given, { name: 'example.com', productType }).map((record) =>
      lineOf(record as Shown),
    );
  assert.deepEqual(lines(), [
    `_imaps._tcp.example.com SRV 0 1 993 ${HOST}`,
    `_pop3s._tcp.example.com SRV 0 1 995 ${HOST}`,
    `_submissions._tcp.example.com SRV 0 1 465 ${HOST}`,
    `_submission._tcp.example.com SRV 0 1 587 ${HOST}`,
    `_sieve._tcp.example.com SRV 0 1 4190 ${HOST}`,
    '_imap._tcp.example.com SRV 0 0 0 .',
    '_pop3._tcp.example.com SRV 0 0 0 .',
    `autoconfig.example.com CNAME ${HOST}`,
    `autodiscover.example.com CNAME ${HOST}`,
    `_autodiscover._tcp.example.com SRV 0 1 443 ${HOST}`,
  ]);
  const starttls = lines({ ...at, imap: { ...at.imap, starttls: true, starttlsPort: 1143 } });
  assert.ok(starttls.includes(`_imap._tcp.example.com SRV 0 1 1143 ${HOST}`));
  assert.ok(!starttls.includes('_imap._tcp.example.com SRV 0 0 0 .'));
  const off = lines({ ...at, submission: { ...at.submission, enabled: false } });
  assert.ok(!off.some((line) => line.includes('_submission')));
  assert.deepEqual(lines(at, 'api'), []);
  assert.deepEqual(lines(at, 'mailbox'), lines());
});

test('the records are checked with the others, shown with what DNS has, and never required', async () => {
  const domain = await addDomain(t, { name: 'clients.example', productType: 'mailbox' });
  const url = `/v1/domains/${domain.id}`;
  const verify = async () => (await t.request('POST', `${url}/verify`)).body;
  const before = (await t.request('GET', url)).body;
  const records = clientsOf(before);
  assert.ok(
    records.every(({ status, found, error }) => status === 'pending' && found.length === 0 && !error),
  );

  dns.setZone(zoneOf(before.records));
  const without = await verify();
  assert.equal(without.status, 'verified');
  for (const { status, error } of clientsOf(without))
    assert.deepEqual(
      [status, /^No (?:SRV record|CNAME) is published here$/.test(error ?? '')],
      ['pending', true],
    );

  dns.setZone([zoneOf(before.records), ...records.map(lineOf)].join('\n'));
  await clock.advance(1_000);
  const right = await verify();
  assert.ok(clientsOf(right).every(({ status }) => status === 'verified'));
  assert.equal(right.updatedAt, new Date(clock.now()).toISOString());

  const elsewhere = records.map((record) => lineOf({ ...record, value: 'mx.elsewhere.example' }));
  dns.setZone([zoneOf(before.records), ...elsewhere].join('\n'));
  const wrong = await verify();
  assert.equal(wrong.status, 'verified');
  for (const { type, status, found, error } of clientsOf(wrong)) {
    assert.deepEqual([status, found.length], ['failed', 1]);
    assert.match(error ?? '', type === 'SRV' ? /must (?:lead to|have the target)/ : /must be a CNAME to/);
  }
  dns.fail('_imaps._tcp.clients.example', 'ESERVFAIL');
  const [unknown] = clientsOf(await verify());
  assert.deepEqual([unknown?.status, /last known state/.test(unknown?.error ?? '')], ['failed', true]);
  dns.heal('_imaps._tcp.clients.example');

  const patched = await t.request('PATCH', url, { body: { productType: 'api' } });
  assert.deepEqual(clientsOf(patched.body), []);
  assert.deepEqual(clientsOf(await verify()), []);
  const again = await t.request('PATCH', url, { body: { productType: 'both' } });
  assert.ok(clientsOf(again.body).every(({ status }) => status === 'pending'));
});

test('the SRV records with the best priority lead to this machine, and the target "." stands alone', () => {
  const srv = (target: string, port = 993, priority = 0) => ({ priority, weight: 1, port, target });
  const judge = (records: ReturnType<typeof srv>[], value: string, port = 993) =>
    judgeSrv({ kind: 'found', records, ttlMs: 1 }, { value, port }).kind;
  assert.equal(judge([srv('a.example', 993, 5), srv(HOST)], HOST), 'verified');
  assert.equal(judge([srv('a.example'), srv(HOST, 993, 5)], HOST), 'wrong', 'programs use the other one');
  assert.equal(judge([srv('a.example'), srv(HOST)], HOST), 'wrong', 'some programs use the other one');
  assert.equal(judge([srv(HOST, 994)], HOST), 'wrong');
  assert.equal(judge([srv('')], HOST), 'wrong');
  assert.equal(judge([srv('', 0)], '.', 0), 'verified');
  assert.equal(judge([srv('', 0), srv(HOST)], '.', 0), 'wrong');
  assert.equal(judgeSrv({ kind: 'no-name' }, { value: '.', port: 0 }).kind, 'absent');
});
