/** Hosts whose TLSA records name an authority: the names that their certificates must have (RFC 7672 section 3.2.2). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import { startServer } from '../../mail/smtp/server/fixture.ts';
import { issueCertificate } from '../../support/certificate-chain.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import type { Hosts } from '../../support/loopback.ts';
import { deliveryAppOf } from '../../support/spool.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});
const closing = closeAfterTests();

/** The clock of the spool stands in the past. */
const VALIDITY = { validFrom: Date.UTC(2000), expiresAt: Date.now() + 3_600_000 };
const authority = await issueCertificate({ isAuthority: true, ...VALIDITY });
const digest = createHash('sha256').update(authority.certificate.raw).digest('hex');

/** Starts a server with a certificate of the authority for a name. */
async function startNamed(name: string) {
  const { pem, key } = await issueCertificate({ name, issuer: authority, ...VALIDITY });
  const certificates = createCertificateStore([{ chain: pem + authority.pem, key }]);
  const context = { after: (close: () => unknown) => closers.push(close) };
  return startServer(context as never, { tls: { mode: 'starttls', certificates } });
}

const first = await startNamed('first.test');
const real = await startNamed('real.test');
const refusing = createServer((socket) =>
  socket.on('error', () => {}).end('521 5.3.2 nobody here takes mail\r\n'),
);
await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
closers.push(() => refusing.close());
const hosts: Hosts = {
  '192.0.2.1': first.port,
  '192.0.2.2': real.port,
  '192.0.2.3': (refusing.address() as AddressInfo).port,
};
const spool = closing(await openRoutedSpool(hosts, 1));
spool.addZone(`org TXT "signed"
shared.example A 192.0.2.1
_25._tcp.shared.example TLSA 2 0 1 ${digest}
first.test MX 10 shared.example
second.test MX 10 shared.example
aliased.example A 192.0.2.2
_25._tcp.aliased.example TLSA 2 0 1 ${digest}
alias.test CNAME real.test
real.test MX 10 aliased.example
stranger.test MX 10 aliased.example
refusing.example A 192.0.2.3
_25._tcp.refusing.example TLSA 2 0 1 ${digest}
refusing.test MX 10 refusing.example
plain.other MX 10 refusing.example`);
spool.dns.sign('test', 'example', 'org');

async function outcomesOf(...to: string[]) {
  const ids: string[] = [];
  for (const address of to) ids.push(await spool.accept(address));
  await spool.deliverDue();
  return Promise.all(ids.map((id) => spool.recipient(id)));
}

test('a certificate for the domain of one recipient proves nothing to another domain with the same hosts', async () => {
  const [own, foreign, again] = await outcomesOf('ann@first.test', 'bob@second.test', 'eve@first.test');
  assert.deepEqual([own?.status, again?.status], ['delivered', 'delivered']);
  assert.equal(foreign?.status, 'deferred');
  assert.match(
    foreign?.diagnostic ?? '',
    /the certificate is for another name than shared\.example, second\.test/,
  );
  const seen = first.sessions.messages.flatMap(({ recipients }) => recipients.map(({ address }) => address));
  assert.deepEqual(seen, ['ann@first.test', 'eve@first.test']);
});

test('the name that an alias of a domain leads to is one of its names, and no name of other domains', async () => {
  const [alias, own, stranger] = await outcomesOf('ann@alias.test', 'bob@real.test', 'eve@stranger.test');
  assert.deepEqual([alias?.status, own?.status, stranger?.status], ['delivered', 'delivered', 'deferred']);
});

test('a host that must prove who it is, and has not, cannot have mail returned', async () => {
  const [unproven, plain] = await outcomesOf('ann@refusing.test', 'ann@plain.other');
  assert.equal(unproven?.status, 'deferred');
  assert.match(unproven?.diagnostic ?? '', /nobody here takes mail/);
  assert.equal(plain?.status, 'bounced');
});

test('a route whose hosts were looked up while nothing was known of the resolvers is not used', async () => {
  const { tls } = deliveryAppOf(spool.app);
  spool.dns.fail('org', 'ETIMEOUT');
  const policies = tls.policiesOf('first.test', undefined);
  const host = { name: 'shared.example', isSecure: true, mxProof: {} };
  assert.equal((await policies.qualify(host)).tls.kind, 'opportunistic');
  spool.dns.heal('org');
  await spool.clock.advance(60_000);
  assert.match((await policies.findDoubt({})) ?? '', /ETIMEOUT/);
  assert.equal(await tls.policiesOf('first.test', undefined).findDoubt({}), undefined);
});
