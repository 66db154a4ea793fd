import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import type { AuthenticationResult } from '../../../src/mail/auth/result.ts';
import { observe as observeMail } from '../../../src/mail-reports/dmarc-reports/observe.ts';
import {
  MAX_DOMAINS,
  MAX_OBSERVATIONS,
  MAX_OBSERVATIONS_PER_DAY,
  observeMessage,
} from '../../../src/mail-reports/dmarc-reports/store.ts';
import { createDmarcReportWork } from '../../../src/mail-reports/dmarc-reports/work.ts';
import { createReportKind } from '../../../src/mail-reports/reports/work.ts';
import { findMessage, listRecipients } from '../../../src/queue/store.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { createLocalReceiver } from '../../../src/receiving/local.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import { openMailWorld, PASS, sendMail } from '../../inbound/mail-world.ts';
import { createTestAuthenticator } from '../../support/authenticator.ts';
import { recordLog } from '../../support/record-log.ts';
import { deliveryAppOf } from '../../support/spool.ts';
import { waitUntil, waitUntilInTime } from '../../support/wait-until.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const DAY_MS = 86_400_000;
const HOST = 'mx.postrider.example';
const TO = `postmaster@${HOST}`;
const dns = zoneDns('');
const world = await openMailWorld({ env: { POSTRIDER_INBOUND_DMARC_REPORTS: 'true' }, system: { dns } });
const { app, clock, knobs } = world;
const { read } = app.db;
const RECORD = '_dmarc.sender.example TXT "v=DMARC1; p=reject; adkim=s; rua=mailto:r@sender.example!1"';

const observations = () => read.selectFrom('dmarcObservations').selectAll().execute();
const reports = () => read.selectFrom('dmarcReports').selectAll().execute();
const mails = () => read.selectFrom('messages').selectAll().orderBy('id').execute();

const AUTHOR: AuthenticationResult = {
  ...PASS,
  dkim: [
    {
      result: 'pass',
      domain: 'sender.example',
      selector: 's1',
      algorithm: 'rsa-sha256',
      reason: '',
      isAligned: true,
    },
  ],
  dmarc: { ...PASS.dmarc, policyDomain: 'sender.example', isSpfAligned: true },
};
const FAILED: AuthenticationResult = {
  ...AUTHOR,
  address: '192.0.2.66',
  dkim: [],
  dmarc: { ...AUTHOR.dmarc, result: 'fail', policy: 'reject', isSpfAligned: false },
};

/** Receives messages with these results. */
async function receive(...results: readonly AuthenticationResult[]): Promise<void> {
  const client = await world.open();
  for (const result of results) {
    knobs.result = result;
    await sendMail(client, { to: TO });
  }
}

/** Lets the next day begin, and runs the work once its reports are due. */
async function runNextDay(work = createDmarcReportWork(app)): Promise<void> {
  await clock.advance(DAY_MS + 8 * 3_600_000);
  const { items } = await work.lease(1);
  for (const item of items) await work.run(item);
}

async function rawOf(id: string): Promise<{ raw: Buffer; to: string[]; returnPath: string }> {
  const message = (await findMessage(read, id)) ?? assert.fail();
  const recipients = await listRecipients(read, id);
  const { signature, content, returnPath } = await deliveryAppOf(app).prepare({ message, recipients });
  const pieces: Uint8Array[] = [Buffer.from(signature, 'latin1')];
  for await (const piece of content.chunks()) pieces.push(piece);
  return { raw: Buffer.concat(pieces), to: recipients.map(({ address }) => address), returnPath };
}

test('a day of mail becomes one signed report to the addresses that the domain names', async () => {
  dns.setZone(RECORD);
  const day = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  await receive(AUTHOR, AUTHOR, FAILED, { ...PASS, dmarc: { ...PASS.dmarc, result: 'none' } });
  await waitUntil(async () => (await observations()).length === 2, 'the mail is counted');
  await waitUntil(
    async () => (await observations()).some(({ messages }) => messages === 2),
    'both are counted',
  );
  await runNextDay();
  assert.deepEqual([await observations(), await reports()], [[], []]);
  const [mail, ...more] = await mails();
  assert.ok(mail && more.length === 0);
  const { raw, to, returnPath } = await rawOf(mail.id);
  assert.deepEqual(to, ['r@sender.example']);
  assert.match(returnPath, /^b\+[0-9a-z]{54}@bounce\.mx\.postrider\.example$/);
  const text = raw.toString();
  const [begin, end] = [day / 1_000, (day + DAY_MS) / 1_000 - 1];
  assert.match(text, /^DKIM-Signature: .*d=mx\.postrider\.example;/);
  assert.match(
    text,
    /\r\nSubject: Report Domain: sender\.example\r\n Submitter: mx\.postrider\.example\r\n Report-ID: <[0-9a-z]{26}>\r\n/,
  );
  assert.match(text, /\r\nAuto-Submitted: auto-generated\r\n/);
  const [, name = '', encoded = ''] =
    /filename="([^"]+)"\r\n[^\r]+\r\n\r\n([A-Za-z0-9+/=\r\n]+?)\r\n--/.exec(text) ?? [];
  assert.match(
    name,
    new RegExp(`^mx\\.postrider\\.example!sender\\.example!${begin}!${end}![0-9a-z]{26}\\.xml\\.gz$`),
  );
  const xml = gunzipSync(Buffer.from(encoded, 'base64')).toString();
  assert.match(
    xml,
    /<domain>sender\.example<\/domain>\n.*\n<p>reject<\/p>\n<sp>reject<\/sp>\n.*\n.*\n<adkim>s<\/adkim>\n<aspf>r<\/aspf>/,
  );
  const records = xml.match(/<record>.*?<\/record>/gs)?.toSorted() ?? [];
  assert.equal(records.length, 2);
  const [passed = '', failed = ''] = records;
  assert.match(passed, /<source_ip>127\.0\.0\.1<\/source_ip>\n<count>2<\/count>/);
  assert.match(passed, /<disposition>none<\/disposition>\n<dkim>pass<\/dkim>\n<spf>pass<\/spf>/);
  assert.match(passed, /<selector>s1<\/selector>\n<result>pass<\/result>/);
  assert.match(failed, /<source_ip>192\.0\.2\.66<\/source_ip>\n<count>1<\/count>/);
  assert.match(failed, /<disposition>reject<\/disposition>\n<dkim>fail<\/dkim>\n<spf>fail<\/spf>/);
  const key = await read.selectFrom('installationKeys').selectAll().executeTakeFirstOrThrow();
  const keys = zoneDns(`${key.selector}._domainkey.${HOST} TXT "v=DKIM1; k=rsa; p=${key.publicKey}"`);
  const authenticator = createTestAuthenticator({ dns: keys, clock, log: app.log });
  const authentication = authenticator.begin({
    owner: 'a',
    address: '192.0.2.1',
    helo: HOST,
    sender: '',
    hostname: 'r.example',
  });
  authentication.write(raw);
  assert.deepEqual(
    (await authentication.finish()).dkim.map(({ result, domain }) => [result, domain]),
    [['pass', HOST]],
  );
});

test('a report about a domain of a tenant comes to its address here, and counts as ours', async () => {
  await world.addDomain('shop.example');
  const domainId = `dom_${'1'.padStart(26, '0')}`;
  dns.setZone(`_dmarc.shop.example TXT "v=DMARC1; p=none; rua=mailto:reports+${domainId.slice(4)}@${HOST}"`);
  const dmarc = { ...AUTHOR.dmarc, domain: 'shop.example', policyDomain: 'shop.example' };
  await receive({ ...AUTHOR, dmarc });
  await waitUntil(async () => (await observations()).length === 1, 'the mail is counted');
  await runNextDay();
  const delivery = startDelivering(app, createLocalReceiver(app));
  const reading = startTasks(app, [createReportKind(app)]);
  const stored = () => read.selectFrom('receivedReports').selectAll().execute();
  await waitUntilInTime(
    [clock],
    async () => {
      return (await stored()).length === 1;
    },
    'the report is stored',
  );
  await Promise.all([delivery.stop(0), reading.stop(0)]);
  const [report] = await stored();
  assert.ok(report);
  const { reporter, registrableDomain, passed, domainId: about } = report;
  assert.deepEqual([reporter, registrableDomain, passed, about], [HOST, 'postrider.example', 1, domainId]);
});

test('a domain that asks for no reports, or for none that it may have, gets none, and nothing is kept', async () => {
  const before = (await mails()).length;
  dns.setZone('_dmarc.sender.example TXT "v=DMARC1; p=reject; rua=mailto:r@victim.example"');
  await receive(AUTHOR);
  await waitUntil(async () => (await observations()).length === 1, 'the mail is counted');
  await runNextDay();
  assert.deepEqual([(await mails()).length, await observations(), await reports()], [before, [], []]);
});

test('a report waits while DNS does not answer, and is given up after six attempts', async () => {
  const before = (await mails()).length;
  await receive(AUTHOR);
  await waitUntil(async () => (await observations()).length === 1, 'the mail is counted');
  dns.fail('_dmarc.sender.example', 'ESERVFAIL');
  for (let attempt = 1; attempt < 6; attempt++) {
    await runNextDay();
    assert.equal((await reports())[0]?.attempts, attempt);
  }
  await runNextDay();
  dns.heal('_dmarc.sender.example');
  assert.deepEqual([(await mails()).length, await reports()], [before, []]);
});

test('a report that cannot be made holds up no report of other domains', async () => {
  const before = (await mails()).length;
  const record = 'TXT "v=DMARC1; p=none; rua=mailto:r@';
  dns.setZone(
    ['broken', 'whole'].map((name) => `_dmarc.${name}.example ${record}${name}.example"`).join('\n'),
  );
  for (const domain of ['broken.example', 'whole.example'])
    await receive({ ...AUTHOR, dmarc: { ...AUTHOR.dmarc, domain, policyDomain: domain } });
  await waitUntil(async () => (await observations()).length === 2, 'the mail is counted');
  const database = new Sqlite(join(world.test.dataDir, 'postrider.db'));
  database.exec("UPDATE dmarcObservations SET observation = '{' WHERE domain = 'broken.example'");
  database.exec("UPDATE dmarcReports SET dueAt = 0 WHERE domain = 'broken.example'");
  database.close();
  for (let attempt = 1; attempt < 6; attempt++) {
    await runNextDay();
    assert.equal((await mails()).length, before + 1);
    assert.deepEqual(
      (await reports()).map(({ domain, attempts }) => [domain, attempts]),
      [['broken.example', attempt]],
    );
  }
  await runNextDay();
  assert.deepEqual([await observations(), await reports()], [[], []], 'it is given up');
});

/** Counts a message of this day. Returns false when nothing has room for it. */
function observe(
  day: number,
  domain: string,
  { observation = 'x', registrableDomain = domain, isProven = true } = {},
) {
  const dueAt = Number.MAX_SAFE_INTEGER;
  return app.db.commit(observeMessage, { day, domain, registrableDomain, observation, dueAt, isProven });
}

/** Counts messages at the same time, in their order. Returns the number of those for which there was room. */
async function observeAll(
  count: number,
  one: (index: number) => ReturnType<typeof observe>,
): Promise<number> {
  const counted = await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  return counted.filter(Boolean).length;
}

test('mail from a million addresses and domains fills no more than the bounds', async () => {
  const ofOne = (index: number) => observe(1, 'a.example', { observation: `${index}` });
  assert.equal(await observeAll(MAX_OBSERVATIONS, ofOne), MAX_OBSERVATIONS);
  assert.equal(await observe(1, 'a.example', { observation: 'one more' }), false);
  assert.equal(await observe(1, 'a.example', { observation: '7' }), true, 'what is known is counted on');
  const others = MAX_DOMAINS - 1;
  assert.equal(await observeAll(others, (index) => observe(1, `${index}.example`)), others);
  assert.equal(await observe(1, 'new.example'), false);
  assert.equal(await observe(2, 'new.example'), true);
  assert.equal((await observations()).length, MAX_OBSERVATIONS + MAX_DOMAINS);
});

test('all names of one owner share the domains and the rows of a day, and leave some for others', async () => {
  const owner = { registrableDomain: 'attacker.example' };
  const names = await observeAll(MAX_DOMAINS / 10, (index) => observe(3, `${index}.attacker.example`, owner));
  assert.equal(names, MAX_DOMAINS / 20);
  let rows = names;
  for (let index = 0; index < names; index++)
    rows += await observeAll(MAX_OBSERVATIONS / 5, (row) =>
      observe(3, `${index}.attacker.example`, { ...owner, observation: `${row}` }),
    );
  assert.equal(rows, MAX_OBSERVATIONS_PER_DAY / 20);
  assert.equal(await observe(3, 'other.example'), true);
});

/** Makes the domains of a day have so many rows together, without the rows. It writes as another process would. */
function setRowsOfDay(day: number, rows: number): void {
  const database = new Sqlite(join(world.test.dataDir, 'postrider.db'));
  database.prepare('UPDATE dmarcReports SET observations = 1 WHERE day = ?').run(day);
  const others = database.prepare('SELECT count(*) - 1 FROM dmarcReports WHERE day = ?').pluck().get(day);
  const change = 'UPDATE dmarcReports SET observations = ? WHERE day = ? AND domain = ?';
  database.prepare(change).run(rows - Number(others), day, 'forged1.example');
  database.close();
}

test('mail forged in the names of many owners leaves half of a day for mail that passes', async () => {
  const isProven = false;
  const names = await observeAll(MAX_DOMAINS, (index) => observe(4, `forged${index}.example`, { isProven }));
  assert.equal(names, MAX_DOMAINS / 2);
  assert.equal(await observe(4, 'forged.example', { isProven }), false);
  assert.equal(await observe(4, 'honest.example'), true);
  assert.equal(await observe(4, 'honest.example', { observation: 'failed', isProven }), true);
  setRowsOfDay(4, MAX_OBSERVATIONS_PER_DAY / 2);
  assert.equal(await observe(4, 'honest.example', { observation: 'more', isProven }), false);
  assert.equal(await observe(4, 'honest.example', { observation: 'more' }), true);
});

test('the names of one owner are counted together when mail arrives', async () => {
  for (const domain of ['mail.example.co.uk', 'example.co.uk'])
    await receive({ ...AUTHOR, dmarc: { ...AUTHOR.dmarc, domain, policyDomain: domain } });
  const ofOwner = async () =>
    (await reports()).filter(({ registrableDomain }) => registrableDomain === 'example.co.uk');
  await waitUntil(async () => (await ofOwner()).length === 2, 'both are counted');
});

test('a message that cannot be counted is logged, and nothing ends', async () => {
  const { log, lines } = recordLog();
  const db = {
    commitInBackground() {
      throw new Error('a bug');
    },
  };
  const envelope = { sender: '', recipients: [{ kind: 'post' as const }] };
  observeMail(
    { ...app, log, db: { ...app.db, ...db } },
    { result: AUTHOR, ...envelope, isRefused: false, isFlagged: false },
  );
  await waitUntil(async () => lines.length > 0, 'it is logged');
  assert.equal(lines[0]?.msg, 'a message was not counted for a DMARC report');
});
