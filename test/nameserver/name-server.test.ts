import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { inspectCertificates } from '../../src/certificates/certificates.ts';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { moreRecordsToPublish } from '../../src/domains/more-records.ts';
import { listOperatorRecords, type OperatorRecord } from '../../src/domains/operator-records.ts';
import { comparePublished } from '../../src/domains/published.ts';
import { dkimTarget, optionalRecordsToPublish, recordsToPublish } from '../../src/domains/records.ts';
import { endDomain, getDomain, purgeDomains } from '../../src/domains/store.ts';
import { mtaStsRecords } from '../../src/host-names/mta-sts.ts';
import { isSameOrBelow } from '../../src/mail/domain-names.ts';
import { createNameServer } from '../../src/nameserver/name-server.ts';
import { createZoneTexts, forgetZoneTexts } from '../../src/nameserver/texts.ts';
import { realClock } from '../../src/system/clock.ts';
import { createDns } from '../../src/system/dns.ts';
import { addDomain } from '../domains/fixtures.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';
import { HOST } from './zone.ts';

const TLSA: OperatorRecord = { type: 'TLSA', name: `_25._tcp.${HOST}`, value: '3 1 1 00', purpose: 'a key' };
const NOTE: OperatorRecord = { type: 'TXT', name: `note.${HOST}`, value: 'of another feature', purpose: '' };

const t = await openTestApp({
  env: {
    POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1,2001:db8::1',
    POSTRIDER_HTTPS_ENABLED: 'true',
    POSTRIDER_NAMESERVER_ENABLED: 'true',
    POSTRIDER_NAMESERVER_PORT: '0',
    POSTRIDER_NAMESERVER_ADDRESSES: '127.0.0.1',
  },
});
const more = [async () => [TLSA, NOTE], mtaStsRecords(t.app.config)];
const nameServer = createNameServer(t.app, more, { inThreads: false });
await nameServer.start();
const { addresses } = await nameServer.calls.status();
const dns = createDns({ clock: realClock, servers: addresses });
after(async () => {
  await nameServer.stop(0);
  await t.close();
});

const serial = async () => (await nameServer.calls.status()).serial;

test('the zone has each record that is printed, without TLSA, because it is not signed', async () => {
  await addDomain(t);
  await nameServer.calls.reload();
  const { records } = await listOperatorRecords(t.app, more);
  assert.ok(records.some(({ purpose }) => purpose === 'DKIM key of example.com'));
  assert.ok(records.some(({ name }) => name === NOTE.name));
  assert.ok(records.every(({ type }) => type !== 'TLSA'));
  const found = await comparePublished(dns.fresh, records, { clock: realClock, timeoutMs: 60_000 });
  assert.deepEqual([...new Set(found.map(({ state }) => state))], ['published'], JSON.stringify(found));
  assert.equal((await dns.fresh.tlsa(TLSA.name)).kind, 'no-name');
});

test('each name that the records of a domain lead to is in the zone, and is answered', async () => {
  const domain = await addDomain(t, { name: 'whole.example', productType: 'both' });
  const { config, db } = t.app;
  const { keys } = await getDomain(db.read, t.tenantId, domain.id);
  await nameServer.calls.reload();
  const published = { ...domain, keys, trackingSubdomain: 'go.whole.example' };
  const records = [
    ...recordsToPublish(config, published),
    ...optionalRecordsToPublish(config, published),
    ...moreRecordsToPublish(config, published),
  ];
  const kinds = new Set<string>();
  for (const { record, type, value } of records) {
    const target =
      type === 'TXT' ? (/include:(\S+)|@(\S+)$/.exec(value) ?? []).slice(1).find(Boolean) : value;
    if (target === undefined || target === '.') continue;
    kinds.add(record);
    assert.ok(isSameOrBelow(target, HOST), `${record} leads to ${target}`);
    // Reports of others come by mail, to a host that an MX record or the address names.
    const asked = ['DKIM', 'DKIM_NEXT', 'DKIM_ED25519', 'SPF', 'MTA_STS_ID'].includes(record) ? 'txt' : 'a';
    const answer = record === 'RETURN_PATH' ? await dns.fresh.mx(target) : await dns.fresh[asked](target);
    assert.equal(answer.kind, 'found', `${record}: ${target} ${JSON.stringify(answer)}`);
  }
  for (const record of [
    'SPF',
    'DKIM',
    'DMARC',
    'TRACKING',
    'RETURN_PATH',
    'MX',
    'MTA_STS',
    'MTA_STS_ID',
    'TLS_RPT',
  ])
    assert.ok(kinds.has(record), record);
});

test('the key of a new domain is answered with soon, and that of a removed one no longer', async () => {
  const before = await serial();
  const domain = await addDomain(t, { name: 'later.example' });
  const target = dkimTarget(t.app.config, domain);
  await waitUntil(async () => (await dns.fresh.txt(target)).kind === 'found');
  assert.ok((await serial()) > before);
  await t.app.db.commit(endDomain, { id: domain.id, tenantId: t.tenantId, now: t.app.clock.now() });
  await nameServer.calls.reload();
  assert.equal((await dns.fresh.txt(target)).kind, 'found', 'its mail may still wait');
  await t.app.db.commit(purgeDomains, { ids: [domain.id] });
  await waitUntil(async () => (await dns.fresh.txt(target)).kind === 'no-name');
});

test('a text is answered with once it is set, several values side by side, until it is removed', async () => {
  const name = `_acme-challenge.track.${HOST}`;
  const { setTxt, removeTxt } = createZoneTexts(t.app, [nameServer]);
  assert.equal(await setTxt(name.toUpperCase(), 'one'), true);
  await setTxt(name, 'two');
  const found = await dns.fresh.txt(name);
  assert.deepEqual(found.kind === 'found' && found.records.toSorted(), ['one', 'two']);
  await removeTxt(name, 'one');
  await removeTxt(name, 'two');
  await waitUntil(async () => (await dns.fresh.txt(name)).kind === 'no-name');
  assert.equal(await setTxt('_acme-challenge.example.com', 'one'), false);
  assert.equal(await setTxt(`_acme-challenge.x${HOST}`, 'one'), false);
});

test('texts that a killed process has left are removed at the start', async () => {
  const name = `_acme-challenge.${HOST}`;
  await createZoneTexts(t.app, [nameServer]).setTxt(name, 'left');
  assert.equal((await dns.fresh.txt(name)).kind, 'found');
  await forgetZoneTexts(t.app);
  await waitUntil(async () => (await dns.fresh.txt(name)).kind === 'no-name');
});

test('a text that one place cannot publish is not kept', async () => {
  const name = `_acme-challenge.${HOST}`;
  const broken = { hasName: () => true, publishText: async () => 'the server refuses' };
  assert.equal(await createZoneTexts(t.app, [nameServer, broken]).setTxt(name, 'half'), false);
  await waitUntil(async () => (await dns.fresh.txt(name)).kind === 'no-name');
});

test('the serial number stays while nothing changes', async () => {
  const before = await serial();
  await nameServer.calls.reload();
  assert.equal(await serial(), before);
});

test('the operator sees the zone, its state, and what the parent zone needs', async () => {
  const report = async (control: Parameters<typeof openControlSocket>[1]) => {
    const socket = await openControlSocket(t.app, control);
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: t.dataDir });
    assert.equal(await runProgram(['nameserver'], terminal), 0);
    await socket.close();
    return terminal.output;
  };
  const certificates = inspectCertificates(t.app);
  const running = await report({ certificates, nameServer });
  assert.ok(running.includes(`answers for ${HOST} on ${addresses.join(', ')}: `));
  assert.match(running, /^NS +mx\.postrider\.example +ns\.mx\.postrider\.example /m);
  assert.match(running, /^A +ns\.mx\.postrider\.example +192\.0\.2\.1 /m);
  assert.match(running, /^AAAA +ns\.mx\.postrider\.example +2001:db8::1 /m);
  assert.match(await report({ certificates }), /once the daemon runs/);
});

test('without the setting no thread starts, and the operator is told of the setting', async () => {
  await using off = await openTestApp();
  const unused = createNameServer(off.app, [], { inThreads: true });
  await unused.start();
  assert.equal(unused.isRunning, true);
  assert.equal(await createZoneTexts(off.app, [unused]).setTxt(`_acme-challenge.${HOST}`, 'one'), false);
  const socket = await openControlSocket(off.app);
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: off.dataDir });
  assert.equal(await runProgram(['nameserver'], terminal), 0);
  await socket.close();
  assert.match(terminal.output, /is off: set nameserver\.enabled/);
});
