import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fetchStsPolicy } from '../../../src/mail/tls-policy/sts-fetch.ts';
import {
  allowsHost,
  InvalidStsPolicyError,
  parseStsPolicy,
} from '../../../src/mail/tls-policy/sts-policy.ts';
import { readStsId } from '../../../src/mail/tls-policy/sts-record.ts';
import { readReportDestinations } from '../../../src/mail/tls-policy/tls-report.ts';
import type { Fetch, HttpRequest } from '../../../src/system/fetch.ts';

test('the record names the id of the policy, and is ignored when it is malformed or not the only one', () => {
  for (const [records, id] of [
    [['v=STSv1; id=20160831085700Z;'], '20160831085700Z'],
    [['v=STSv1;id=1'], '1'],
    [['v=STSv1; x=1; id=a; id=b'], 'a'],
    [['something else', 'v=STSv1; id=1'], '1'],
    [['v=STSv1; id=1', 'v=STSv1; id=2'], undefined],
    [['v=STSv1; id=1-2'], undefined],
    [[`v=STSv1; id=${'1'.repeat(33)}`], undefined],
    [['v=STSv1;'], undefined],
    [['v=STSv1; id'], undefined],
    [['v=STSv2; id=1'], undefined],
    [['id=1; v=STSv1'], undefined],
    [['V=STSv1; id=1'], undefined],
  ] as const)
    assert.equal(readStsId(records), id, records.join(' | '));
});

test('the time to read a record or a policy grows with its length, whatever it has', () => {
  // An expression that backtracks takes an hour for so many characters.
  const length = 1_000_000;
  const blanks = ' '.repeat(length);
  assert.equal(readStsId([`v=STSv1; id=1;${blanks}x`]), undefined);
  assert.equal(readReportDestinations([`v=TLSRPTv1; rua=${blanks}x`]), undefined);
  assert.throws(() => read(`version: STSv1\n${'\n'.repeat(length)}x`), InvalidStsPolicyError);
  assert.throws(() => read(`version:${blanks}\u0001`), InvalidStsPolicyError);
});

const read = (text: string) => parseStsPolicy(Buffer.from(text));
const POLICY = 'version: STSv1\nmode: enforce\nmx: mail.example.com\nmx: *.Example.net\nmax_age: 604800\n';

test('a policy is read with line ends of both kinds, the first of two equal fields, and unknown fields', () => {
  const policy = { mode: 'enforce', mx: ['mail.example.com', '*.example.net'], maxAgeSeconds: 604_800 };
  assert.deepEqual(read(POLICY), policy);
  assert.deepEqual(read(POLICY.replaceAll('\n', '\r\n')), policy);
  assert.deepEqual(read(`${POLICY}mode: none\nx-new: grüße an alle\n`), policy);
  assert.deepEqual(read('version: STSv1\nmode: none\nmax_age: 9999999999'), {
    mode: 'none',
    mx: [],
    maxAgeSeconds: 31_557_600,
  });
});

test('a policy that is not valid is no policy', () => {
  for (const [what, text] of [
    ['another version', POLICY.replace('STSv1', 'STSv2')],
    ['no version', POLICY.replace('version: STSv1\n', '')],
    ['an unknown mode', POLICY.replace('enforce', 'Enforce')],
    ['no time', POLICY.replace('max_age: 604800\n', '')],
    ['a negative time', POLICY.replace('604800', '-1')],
    ['no host', POLICY.replaceAll(/mx: .*\n/g, '')],
    ['a wildcard inside', POLICY.replace('*.', 'mx.*.')],
    ['a host in U-labels', POLICY.replace('mail.', 'bücher.')],
    ['a line without a value', `${POLICY}x:\n`],
    ['an empty line inside', POLICY.replace('\n', '\n\n')],
    ['a bare CR', POLICY.replace('\n', '\r')],
    ['a page', '<html>\n</html>'],
    ['nothing', ''],
    ['too many hosts', POLICY.replace('mx:', `${'mx: a.example\n'.repeat(300)}mx:`)],
  ] as const)
    assert.throws(() => read(text), InvalidStsPolicyError, what);
  assert.throws(() => parseStsPolicy(Buffer.from([0xff, 0xfe])), InvalidStsPolicyError);
});

test('a wildcard stands for exactly one label', () => {
  const policy = { mx: ['mail.example.com', '*.example.net'] };
  for (const [host, isAllowed] of [
    ['mail.example.com', true],
    ['mx.example.net', true],
    ['example.net', false],
    ['a.mx.example.net', false],
    ['other.example.com', false],
    ['evilexample.net', false],
    ['net', false],
  ] as const)
    assert.equal(allowsHost(policy, host), isAllowed, host);
  assert.equal(allowsHost({ mx: ['xn--bcher-kva.example'] }, 'xn--bcher-kva.example'), true);
});

/** Fetches a policy from a host that answers like this. */
async function fetched(answer: Partial<Awaited<ReturnType<Fetch>>> | Error) {
  const asked: HttpRequest[] = [];
  const fetch: Fetch = async (request) => {
    asked.push(request);
    if (answer instanceof Error) throw answer;
    const headers = { 'content-type': 'text/plain; charset=utf-8' };
    return { status: 200, headers, body: Buffer.from(POLICY), truncated: false, ...answer };
  };
  return { asked, result: await fetchStsPolicy({ fetch }, 'example.com') };
}

test('the policy is fetched from its one address over HTTPS, and nothing but 200 and text/plain is a policy', async () => {
  const { asked, result } = await fetched({});
  assert.equal(result.kind, 'policy');
  assert.equal(asked[0]?.url, 'https://mta-sts.example.com/.well-known/mta-sts.txt');
  assert.equal(asked[0]?.method, 'GET');
  const kindOf = async (answer: Parameters<typeof fetched>[0]) => (await fetched(answer)).result.kind;
  for (const status of [301, 302, 404, 500, 204])
    assert.equal(
      await kindOf({ status, headers: { location: 'https://other.example/' } }),
      'sts-policy-fetch-error',
    );
  assert.equal(
    await kindOf({ truncated: true }),
    'sts-policy-invalid',
    'a policy that is cut off is another policy',
  );
  assert.equal(await kindOf({ headers: { 'content-type': 'text/html' } }), 'sts-policy-invalid');
  assert.equal(await kindOf({ headers: {} }), 'sts-policy-invalid');
  assert.equal(await kindOf({ body: Buffer.from('no policy') }), 'sts-policy-invalid');
  assert.equal(await kindOf(new Error('connect ECONNREFUSED')), 'sts-policy-fetch-error');
  const expired = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' });
  assert.equal(await kindOf(expired), 'sts-webpki-invalid');
});
