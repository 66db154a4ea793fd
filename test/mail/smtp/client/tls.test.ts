/** Tests what a session demands of TLS, against real servers: any certificate, a valid one, or one that TLSA records name; and how it is resumed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import type { SmtpEvent } from '../../../../src/mail/smtp/client/events.ts';
import { openSmtp } from '../../../../src/mail/smtp/client/open.ts';
import type { SmtpOptions } from '../../../../src/mail/smtp/client/options.ts';
import { SmtpTickets } from '../../../../src/mail/smtp/client/tickets.ts';
import { usableRecords } from '../../../../src/mail/tls-policy/tlsa.ts';
import { createCertificateStore } from '../../../../src/system/certificates.ts';
import { issueCertificate } from '../../../support/certificate-chain.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { startSmtpSink } from '../../../support/smtp-sink.ts';
import { startServer } from '../server/fixture.ts';
import { optionsFor, worldWith } from './session-fixture.ts';

const HOST = 'mx.example';
const authority = await issueCertificate({ isAuthority: true });
const leaf = await issueCertificate({ name: HOST, issuer: authority });
const closers: (() => unknown)[] = [];
const context = { after: (close: () => unknown) => closers.push(close) };
const certificates = createCertificateStore([{ chain: leaf.pem + authority.pem, key: leaf.key }]);
const server = await startServer(context as never, { tls: { mode: 'starttls', certificates } });
const plain = await startSmtpSink();
after(async () => {
  for (const close of closers) await close();
  await plain.close();
});

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const ofLeaf = `3 0 1 ${sha256(leaf.certificate.raw)}`;
const ofAuthority = `2 0 1 ${sha256(authority.certificate.raw)}`;
const ofNobody = `3 1 1 ${'0'.repeat(64)}`;
const dane = (text: string, names = [HOST]) => ({ base: HOST, names, records: usableRecords([text]) });

/** Opens a session, and returns its TLS or why there is none. */
async function open(more: Partial<SmtpOptions>, port = server.port) {
  const events: SmtpEvent[] = [];
  const observer = (event: SmtpEvent) => events.push(event);
  const opened = await openSmtp(worldWith(), optionsFor(port, { serverName: HOST, observer, ...more }));
  if (!opened.ok)
    return { problem: 'problem' in opened.failure ? opened.failure.problem : opened.failure.kind };
  const { tls } = opened.session;
  await opened.session.quit();
  return { tls };
}

test('a session that asks for TLS takes any certificate, and never opens without TLS', async () => {
  const { tls } = await open({ tls: 'encrypted' });
  assert.deepEqual([tls?.authorized, tls?.problem], [false, 'certificate-not-trusted']);
  assert.deepEqual(await open({ tls: 'encrypted' }, plain.port), { problem: 'starttls-not-supported' });
});

test('a session that asks for a valid certificate does not open without one', async () => {
  assert.deepEqual(await open({ tls: 'starttls' }), { problem: 'certificate-not-trusted' });
  assert.equal((await open({ tls: 'starttls', authorities: authority.pem })).tls?.authorized, true);
  const other = { tls: 'starttls', authorities: authority.pem, serverName: 'other.example' } as const;
  assert.deepEqual(await open(other), { problem: 'certificate-host-mismatch' });
  assert.deepEqual(await open({ tls: 'starttls' }, plain.port), { problem: 'starttls-not-supported' });
});

test('TLSA records decide, whatever the authorities of the system are', async () => {
  for (const record of [ofLeaf, ofAuthority])
    assert.equal((await open({ tls: 'dane', dane: dane(record) })).tls?.authorized, true);
  assert.deepEqual(await open({ tls: 'dane', dane: dane(ofNobody) }), { problem: 'certificate-not-trusted' });
  const wrongName = dane(ofAuthority, ['other.example']);
  assert.deepEqual(await open({ tls: 'dane', dane: wrongName }), { problem: 'certificate-host-mismatch' });
  assert.deepEqual(await open({ tls: 'dane', dane: dane(ofLeaf) }, plain.port), {
    problem: 'starttls-not-supported',
  });
});

/** Counts the full handshakes of sessions that open one after the other. The tickets of a server come after its handshake. */
class CountedTickets extends SmtpTickets {
  found = 0;
  override find(...key: Parameters<SmtpTickets['find']>) {
    const ticket = super.find(...key);
    if (ticket) this.found++;
    return ticket;
  }
}

test('the next session with an address resumes the last one, with what its certificate was worth', async () => {
  const clock = createFakeClock(0);
  const tickets = new CountedTickets(clock);
  const first = await open({ tls: 'opportunistic', tickets });
  const second = await open({ tls: 'opportunistic', tickets });
  assert.equal(tickets.found, 1);
  assert.deepEqual(second, first);
  await clock.advance(3_600_000);
  await open({ tls: 'opportunistic', tickets });
  assert.equal(tickets.found, 1, 'a ticket is used for an hour');
});

test('sessions of different requirements never resume each other', async () => {
  const tickets = new CountedTickets(createFakeClock(0));
  const base = { tickets, serverName: HOST } as const;
  await open({ ...base, tls: 'opportunistic' });
  for (const more of [
    { tls: 'encrypted' },
    { tls: 'starttls', authorities: authority.pem },
    { tls: 'dane', dane: dane(ofLeaf) },
    { tls: 'dane', dane: dane(ofAuthority) },
    { tls: 'opportunistic', serverName: 'other.example' },
  ] as const)
    await open({ ...base, ...more });
  assert.equal(tickets.found, 0);
  assert.deepEqual(await open({ ...base, tls: 'dane', dane: dane(ofNobody) }), {
    problem: 'certificate-not-trusted',
  });
});

test('a certificate that was refused is looked at again', async () => {
  const tickets = new CountedTickets(createFakeClock(0));
  for (const _again of [1, 2]) assert.ok((await open({ tls: 'starttls', tickets })).problem);
  assert.equal(tickets.found, 0);
});
