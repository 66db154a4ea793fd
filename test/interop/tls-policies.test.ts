/**
 * Mail to domains with DANE behind Debian's Unbound, and with MTA-STS over HTTPS. Debian's Postfix receives it, with a certificate of an
 * authority of the test.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Database from 'better-sqlite3';
import { type Issued, issueCertificate } from '../support/certificate-chain.ts';
import { temporaryDirectory } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { RECEIVER_DOMAIN, type Sender, startSender } from './sender.ts';
import { until } from './until.ts';
import { startValidator } from './validator.ts';

/** Address of a host that offers no TLS, and of the host of all policies. */
const [PLAIN, POLICIES] = ['127.0.0.46', '127.0.0.45'];
const HTTPS = 443;
const POLICY_DOMAINS = ['match.example', 'other.example', 'testing.example'];
/** Each name is a domain, whose host is `mx-` and the name. */
const SIGNED = ['own', 'authority', 'wrong', 'stripped', 'forged'];

const digestOf = (part: Buffer) => createHash('sha256').update(part).digest('hex');
const keyOf = ({ certificate }: Issued) => certificate.publicKey.export({ type: 'spki', format: 'der' });

let postfix: Postfix;
let sender: Sender;
const closers: (() => unknown)[] = [];
/** Commands that the host without TLS was given. */
const heardInPlain: string[] = [];

before(async () => {
  const folder = temporaryDirectory('tls-policies');
  const authority = await issueCertificate({ isAuthority: true });
  const otherNames = ['mx.policy.example', ...POLICY_DOMAINS.map((domain) => `mta-sts.${domain}`)];
  const server = await issueCertificate({ name: 'mx-authority.signed.test', otherNames, issuer: authority });
  await writeFile(join(folder, 'authority.pem'), authority.pem);

  const dns = await startDnsServer();
  const [own, issuer] = [digestOf(keyOf(server)), digestOf(authority.certificate.raw)];
  const resolver = await startValidator([signedZone(own, issuer), BOGUS_ZONE], dns.address);
  postfix = await startPostfix({
    domain: RECEIVER_DOMAIN,
    mailboxes: ['inbox'],
    otherDomains: [...SIGNED.map((name) => `${name}.signed.test`), 'mail.bogus.test', ...POLICY_DOMAINS],
    certificate: { chain: server.pem + authority.pem, key: server.key },
  });
  closers.push(await startPlainHost(postfix.port), await startPolicyHost(server));
  sender = await startSender({
    dns,
    receiver: postfix,
    otherZone: policyZone(),
    env: {
      POSTRIDER_DNS_SERVERS: resolver.address,
      POSTRIDER_DNS_SIGNED_NAME: 'signed.test',
      NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    },
  });
  closers.push(
    () => postfix.stop(),
    () => resolver.stop(),
    () => dns.close(),
  );
});

after(async () => {
  for (const close of closers) await close();
});

function signedZone(own: string, issuer: string) {
  const forged = 'f'.repeat(64);
  const hosts = SIGNED.map(
    (name) => `${name} MX 10 mx-${name}\nmx-${name} A ${name === 'stripped' ? PLAIN : '127.0.0.1'}`,
  );
  const records = `${hosts.join('\n')}
_25._tcp.mx-own TLSA 3 1 1 ${own}
_25._tcp.mx-authority TLSA 2 0 1 ${issuer}
_25._tcp.mx-wrong TLSA 3 1 1 ${'0'.repeat(64)}
_25._tcp.mx-stripped TLSA 3 1 1 ${own}
_25._tcp.mx-forged TLSA 3 1 1 ${forged}`;
  return { name: 'signed.test', records, tamper: (file: string) => file.replaceAll(forged, own) };
}

/** A zone whose addresses were changed after it was signed. */
const BOGUS_ZONE = {
  name: 'bogus.test',
  records: 'mail MX 10 mx\nmx A 127.0.0.9',
  tamper: (file: string) => file.replaceAll('127.0.0.9', '127.0.0.1'),
};

function policyZone(): string {
  const records = POLICY_DOMAINS.map(
    (domain) => `${domain} MX 10 mx.policy.example
_mta-sts.${domain} TXT "v=STSv1; id=1"
_smtp._tls.${domain} TXT "v=TLSRPTv1; rua=mailto:tls@${domain}"
mta-sts.${domain} A ${POLICIES}`,
  );
  return `mx.policy.example A 127.0.0.1\n${records.join('\n')}`;
}

async function startPolicyHost({ pem, key }: Issued): Promise<() => unknown> {
  const policies = createHttpsServer({ cert: pem, key }, ({ headers }, response) => {
    const domain = headers.host?.replace(/^mta-sts\./, '') ?? '';
    const [mode, mx] = [
      domain === 'testing.example' ? 'testing' : 'enforce',
      domain === 'match.example' ? '*.policy.example' : 'mx.elsewhere.example',
    ];
    response.setHeader('content-type', 'text/plain');
    response.end(`version: STSv1\r\nmode: ${mode}\r\nmx: ${mx}\r\nmax_age: 86400\r\n`);
  });
  await once(policies.listen(HTTPS, POLICIES), 'listening');
  return () => policies.close();
}

async function startPlainHost(port: number): Promise<() => unknown> {
  const plain = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 plain ESMTP\r\n');
    socket.on('data', (data) => {
      heardInPlain.push(data.toString('latin1').trim());
      socket.write('250 ok\r\n');
    });
  });
  await once(plain.listen(port, PLAIN), 'listening');
  return () => plain.close();
}

/** Sends an email, and returns its recipient once it has this status. */
async function send(domain: string, status: 'delivered' | 'deferred') {
  const id = await sender.send(`ann@${domain}`);
  return until(`mail to ${domain} is ${status}`, async () => {
    const [recipient] = (await sender.email(id)).recipients;
    return recipient?.status === status && recipient;
  });
}

test('a TLSA record of the certificate, and one of its authority, let mail go to the host over TLS', async () => {
  for (const domain of ['own.signed.test', 'authority.signed.test'])
    assert.equal((await send(domain, 'delivered')).tls, 'TLSv1.3');
  const messages = await until('both messages', async () => {
    const stored = await postfix.messages('inbox');
    return stored.length === 2 && stored;
  });
  for (const message of messages) assert.match(message, /with ESMTPS/);
});

test('a host with another certificate, or without TLS, gets no mail, nor does one whose records are forged', async () => {
  const before = (await postfix.messages('inbox')).length;
  assert.match(
    (await send('wrong.signed.test', 'deferred')).diagnostic ?? '',
    /no TLSA record of the host matches/,
  );
  assert.match((await send('stripped.signed.test', 'deferred')).diagnostic ?? '', /does not offer STARTTLS/);
  assert.match(
    (await send('forged.signed.test', 'deferred')).diagnostic ?? '',
    /cannot be read \(ESERVFAIL\)/,
  );
  assert.match((await send('mail.bogus.test', 'deferred')).diagnostic ?? '', /ESERVFAIL/);
  assert.equal((await postfix.messages('inbox')).length, before);
  assert.ok(
    heardInPlain.length > 0 && heardInPlain.every((line) => /^(?:EHLO|QUIT)/.test(line)),
    heardInPlain.join(),
  );
});

test('a policy of MTA-STS lets mail go to a host that it names and that proves its name, and to no other', async () => {
  assert.equal((await send('match.example', 'delivered')).tls, 'TLSv1.3');
  const other = await send('other.example', 'deferred');
  assert.match(other.diagnostic ?? '', /the MTA-STS policy of other\.example does not name it/);
});

test('a policy that is being tested holds nothing up, and its failure is counted for the report, also by a stop', async () => {
  await send('testing.example', 'delivered');
  await sender.daemon.stop();
  const database = new Database(join(sender.daemon.dataDir, 'postrider.db'), { readonly: true });
  const rows = database
    .prepare(
      `SELECT domain, tlsReportPolicies.policy, failure FROM tlsSessions JOIN tlsReportPolicies USING (day, domain)
         WHERE number = tlsSessions.policy ORDER BY domain`,
    )
    .all();
  database.close();
  const counted = (rows as Record<'domain' | 'policy' | 'failure', string>[]).map(
    ({ domain, policy, failure }) => [domain, JSON.parse(policy).type, failure && JSON.parse(failure).type],
  );
  assert.deepEqual(counted, [
    ['match.example', 'sts', ''],
    ['other.example', 'sts', 'validation-failure'],
    ['testing.example', 'sts', 'validation-failure'],
  ]);
});
