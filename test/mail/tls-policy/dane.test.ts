import assert from 'node:assert/strict';
import { createHash, type X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { findTlsa } from '../../../src/mail/tls-policy/dane-lookup.ts';
import { verifyDane } from '../../../src/mail/tls-policy/dane-verify.ts';
import { usableRecords } from '../../../src/mail/tls-policy/tlsa.ts';
import { issueCertificate } from '../../support/certificate-chain.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const HOST = 'mx.example';
const HOUR_MS = 3_600_000;
const authority = await issueCertificate({ isAuthority: true });
const server = await issueCertificate({ name: HOST, issuer: authority });
const other = await issueCertificate({ name: HOST });
const chain = [server.certificate, authority.certificate];

/** Returns a TLSA record of a certificate, as a zone file has it. */
function tlsa(usage: number, selector: number, matchingType: number, certificate: X509Certificate): string {
  const selected =
    selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' });
  const digest = (name: string) => createHash(name).update(selected).digest('hex');
  const data = [selected.toString('hex'), digest('sha256'), digest('sha512')][matchingType];
  return `${usage} ${selector} ${matchingType} ${data}`;
}

function verdict(texts: string[], { names = [HOST], certificates = chain, now = Date.now() } = {}): string {
  const result = verifyDane(certificates, { records: usableRecords(texts), names }, now);
  return result.ok ? 'ok' : result.fault;
}

test('every selector and matching type names the certificate of a server, and that of its authority', () => {
  for (const selector of [0, 1])
    for (const matchingType of [0, 1, 2]) {
      assert.equal(verdict([tlsa(3, selector, matchingType, server.certificate)]), 'ok');
      assert.equal(verdict([tlsa(2, selector, matchingType, authority.certificate)]), 'ok');
      for (const usage of [2, 3])
        assert.equal(
          verdict([tlsa(usage, selector, matchingType, other.certificate)]),
          'certificate-not-trusted',
        );
    }
});

test('an authority whose names are limited by a critical extension is refused, wherever it stands in the chain', async () => {
  const [critical, plain] = await Promise.all(
    [true, false].map((constraint) => issueCertificate({ isAuthority: true, constraint })),
  );
  assert.ok(critical && plain);
  const verdictOf = async (top: typeof authority, isSent = true) => {
    const leaf = await issueCertificate({ name: HOST, issuer: top });
    const certificates = isSent ? [leaf.certificate, top.certificate] : [leaf.certificate];
    return verdict([tlsa(2, 0, isSent ? 1 : 0, top.certificate)], { certificates });
  };
  assert.equal(await verdictOf(critical), 'certificate-not-trusted');
  assert.equal(await verdictOf(critical, false), 'certificate-not-trusted', 'the record holds the authority');
  assert.equal(await verdictOf(plain), 'ok', 'an extension that is not critical may be ignored');
  const between = await issueCertificate({
    name: 'between',
    issuer: authority,
    isAuthority: true,
    constraint: true,
  });
  const leaf = await issueCertificate({ name: HOST, issuer: between });
  const certificates = [leaf.certificate, between.certificate, authority.certificate];
  assert.equal(verdict([tlsa(2, 0, 1, authority.certificate)], { certificates }), 'certificate-not-trusted');
  assert.equal(
    verdict([tlsa(3, 0, 1, leaf.certificate)], { certificates }),
    'ok',
    'the server itself is named',
  );
});

test('an authority that the record holds must be current', async () => {
  const expired = await issueCertificate({ isAuthority: true, expiresAt: Date.now() - 1_000 });
  const leaf = await issueCertificate({ name: HOST, issuer: expired });
  const record = tlsa(2, 0, 0, expired.certificate);
  assert.equal(verdict([record], { certificates: [leaf.certificate] }), 'certificate-expired');
});

test('a record of the certificate itself asks neither for its name nor for its dates', () => {
  const record = tlsa(3, 1, 1, server.certificate);
  assert.equal(verdict([record], { names: ['other.example'], now: Date.now() + 99 * HOUR_MS }), 'ok');
});

test('a record of an authority asks for both', () => {
  const record = tlsa(2, 0, 1, authority.certificate);
  assert.equal(verdict([record], { names: ['other.example'] }), 'certificate-host-mismatch');
  assert.equal(verdict([record], { names: ['other.example', HOST] }), 'ok');
  assert.equal(verdict([record], { now: Date.now() + 99 * HOUR_MS }), 'certificate-expired');
});

test('an authority that is named must have signed the certificate, and be one', async () => {
  const stranger = await issueCertificate({ isAuthority: true });
  const sent = [server.certificate, stranger.certificate];
  assert.equal(
    verdict([tlsa(2, 0, 1, stranger.certificate)], { certificates: sent }),
    'certificate-not-trusted',
  );
  const leaf = await issueCertificate({ name: 'authority' });
  const byLeaf = await issueCertificate({ name: HOST, issuer: leaf });
  const certificates = [byLeaf.certificate, leaf.certificate];
  assert.equal(verdict([tlsa(2, 0, 1, leaf.certificate)], { certificates }), 'certificate-not-trusted');
  const alone = { certificates: [server.certificate] };
  assert.equal(
    verdict([tlsa(2, 0, 0, authority.certificate)], alone),
    'ok',
    'the record holds the authority',
  );
  assert.equal(verdict([tlsa(2, 1, 0, authority.certificate)], alone), 'ok');
  assert.equal(verdict([tlsa(2, 0, 1, authority.certificate)], alone), 'certificate-not-trusted');
  assert.equal(
    verdict([tlsa(2, 0, 0, leaf.certificate)], { certificates: [byLeaf.certificate] }),
    'certificate-not-trusted',
  );
  assert.equal(verdict([tlsa(3, 1, 1, server.certificate)], { certificates: [] }), 'certificate-not-trusted');
});

test('issuers come in any order and among others, and their number is no reason to work for long', async () => {
  const between = await issueCertificate({ name: 'between', issuer: authority, isAuthority: true });
  const issued = (await issueCertificate({ name: HOST, issuer: between })).certificate;
  const [top, middle] = [authority.certificate, between.certificate];
  const record = tlsa(2, 0, 1, top);
  for (const certificates of [
    [issued, middle, top],
    [issued, top, middle],
    [issued, other.certificate, issued, top, middle],
  ])
    assert.equal(verdict([record], { certificates }), 'ok');
  const same = await Promise.all(
    Array.from({ length: 30 }, () => issueCertificate({ name: 'between', isAuthority: true })),
  );
  const certificates = [issued, ...same.map(({ certificate }) => certificate), middle, top];
  assert.equal(verdict([record], { certificates }), 'certificate-not-trusted');
});

test('a wildcard stands for a whole label', async () => {
  const record = tlsa(2, 0, 1, authority.certificate);
  for (const [name, expected] of [
    ['*.mail.example', 'ok'],
    ['m*.mail.example', 'certificate-host-mismatch'],
    ['*.example', 'certificate-host-mismatch'],
  ] as const) {
    const wild = await issueCertificate({ name, issuer: authority });
    const certificates = [wild.certificate, authority.certificate];
    assert.equal(verdict([record], { certificates, names: ['mx.mail.example'] }), expected, name);
  }
});

test('records that no client can use are left out, and the weaker of two digests', () => {
  const digest = 'a'.repeat(64);
  const unusable = [
    `0 1 1 ${digest}`,
    `1 1 1 ${digest}`,
    `3 2 1 ${digest}`,
    `3 1 3 ${digest}`,
    `4 1 1 ${digest}`,
  ];
  const broken = ['3 1 1 abcd', '3 1 2 abcd', '3 0 0 abcd', '3 1 0 abcd', '3 1 1', '3 1 1 xyz', ''];
  assert.deepEqual(usableRecords([...unusable, ...broken]), []);
  const [weak, strong] = [tlsa(3, 1, 1, server.certificate), tlsa(3, 1, 2, server.certificate)];
  assert.deepEqual(
    usableRecords([weak, strong]).map(({ matchingType }) => matchingType),
    [2],
  );
  assert.equal(
    usableRecords([weak, tlsa(3, 0, 2, server.certificate)]).length,
    2,
    'they are of different selectors',
  );
});

const RECORD = tlsa(3, 1, 1, server.certificate);
const ZONE = `_25._tcp.mx.example TLSA ${RECORD}
_25._tcp.target.other TLSA ${RECORD}
_25._tcp.odd.example TLSA 1 1 1 ${'a'.repeat(64)}
alias.example CNAME target.other`;

async function lookUp(
  name: string,
  signed: string[],
  more: { isSecure?: boolean; aliasTarget?: string; failing?: string } = {},
) {
  const dns = zoneDns(ZONE);
  dns.sign(...signed);
  if (more.failing) dns.fail(more.failing, 'ESERVFAIL');
  const { isSecure = true, aliasTarget } = more;
  const found = await findTlsa(dns, { name, isSecure, aliasTarget });
  return found.kind === 'usable' ? found.base : found.kind;
}

test('TLSA records count only where DNSSEC proves them and the addresses', async () => {
  assert.equal(await lookUp('mx.example', ['example']), 'mx.example');
  assert.equal(await lookUp('mx.example', []), 'none', 'the records are not proven');
  assert.equal(await lookUp('mx.example', ['example'], { isSecure: false }), 'none');
  assert.equal(await lookUp('none.example', ['example']), 'none');
  assert.equal(await lookUp('odd.example', ['example']), 'unusable');
});

test('a lookup that fails is no proof that there are none', async () => {
  assert.equal(await lookUp('mx.example', ['example'], { failing: '_25._tcp.mx.example' }), 'failed');
  const alias = { isSecure: false, aliasTarget: 'target.other', failing: 'alias.example' };
  assert.equal(await lookUp('alias.example', ['example'], alias), 'failed');
});

test('the records of an alias are those of its target, or else its own', async () => {
  const alias = { aliasTarget: 'target.other' };
  assert.equal(await lookUp('alias.example', ['example', 'other'], alias), 'target.other');
  assert.equal(await lookUp('mx.example', ['example', 'other'], { aliasTarget: 'gone.other' }), 'mx.example');
  // The target is in an unsigned zone, and the alias itself in a signed one.
  const insecure = { isSecure: false, aliasTarget: 'target.other' };
  assert.equal(await lookUp('alias.example', ['example'], insecure), 'none');
  assert.equal(await lookUp('alias.example', [], insecure), 'none');
});
