import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { MAX_UNPACKED_BYTES, readReport } from '../../../src/mail/reports/read.ts';
import type { DmarcReport } from '../../../src/mail/reports/report.ts';
import { DMARC_XML, gzipped, messageWith, recordOf, TLS_REPORT, zipOf, zipWith } from './fixtures.ts';

const read = (message: string) => readReport(Buffer.from(message, 'latin1'));
const XML = Buffer.from(DMARC_XML);

function readDmarc(xml: string): DmarcReport {
  const report = read(gzipped(xml));
  assert.equal(report?.type, 'dmarc');
  return report;
}

const DMARC: DmarcReport = {
  type: 'dmarc',
  organization: 'Big Mail & Co',
  reportId: '17995',
  beginAt: 1_799_971_200_000,
  endAt: 1_800_057_599_000,
  domain: 'shop.example',
  policy: 'quarantine',
  records: [
    {
      ...{ sourceIp: '198.51.100.7', messages: 99, disposition: 'none', dkim: true, spf: true },
      headerFrom: 'elsewhere.example',
    },
    // Equal records are added up.
    {
      ...{ sourceIp: '192.0.2.1', messages: 20, disposition: 'none', dkim: true, spf: false },
      headerFrom: 'shop.example',
    },
    {
      ...{ sourceIp: '2001:db8::1', messages: 3, disposition: 'quarantine', dkim: false, spf: false },
      headerFrom: 'news.shop.example',
    },
  ],
  leftOut: { records: 0, messages: 0 },
};

test('an aggregate report is read from gzip, ZIP and plain XML, whatever its media type is', () => {
  for (const message of [
    gzipped(DMARC_XML),
    messageWith(gzipSync(XML), 'application/octet-stream'),
    messageWith(zipOf(XML), 'application/zip'),
    messageWith(zipOf(XML, { method: 0 }), 'application/zip'),
    messageWith(zipOf(XML, { comment: 'PK comment' }), 'application/x-zip-compressed'),
    messageWith(XML, 'text/xml'),
    messageWith(Buffer.from(`\ufeff${DMARC_XML}`), 'application/xml'),
    messageWith(
      Buffer.from(DMARC_XML.replaceAll('<', '<d:').replaceAll('<d:/', '</d:').replace('<d:?', '<?')),
    ),
  ])
    assert.deepEqual(read(message), DMARC);
});

test('a message may consist of the report alone', () => {
  const header = 'Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n';
  assert.deepEqual(read(header + zipOf(XML).toString('base64')), DMARC);
});

test('a report about TLS is read with its failures', () => {
  const report = read(messageWith(gzipSync(JSON.stringify(TLS_REPORT)), 'application/tlsrpt+gzip'));
  const failures = [
    { resultType: 'certificate-expired', sessions: 3, receivingHost: 'mx.postrider.example' },
  ];
  assert.deepEqual(report, {
    type: 'tls',
    organization: 'Big Mail',
    reportId: '2027-01-14-shop',
    beginAt: Date.UTC(2027, 0, 14),
    endAt: Date.UTC(2027, 0, 14, 23, 59, 59),
    policies: [
      { domain: 'shop.example', policyType: 'sts', succeeded: 50, failed: 3, failures },
      { domain: 'elsewhere.example', policyType: 'no-policy-found', succeeded: 7, failed: 0, failures: [] },
    ],
    leftOut: { records: 0, messages: 0 },
  });
  assert.deepEqual(
    read(messageWith(Buffer.from(JSON.stringify(TLS_REPORT)), 'application/tlsrpt+json')),
    report,
  );
});

test('records that are not complete or not possible are left out, and counted', () => {
  const wrong = [
    recordOf('192.0.2.256', 1),
    recordOf('fe80::1%eth0', 1),
    recordOf('192.0.2.2', -1),
    recordOf('192.0.2.2', '1e5'),
    recordOf('192.0.2.2', 99_999_999_999),
    recordOf('192.0.2.2', 1_000_000_001),
    recordOf('192.0.2.2', 0),
    '<record></record>',
    '<record><row><source_ip>192.0.2.2</source_ip></row></record>',
    '<record><row><count>7</count></row></record>',
  ].join('');
  const { records, leftOut } = readDmarc(DMARC_XML.replace('</feedback>', `${wrong}</feedback>`));
  assert.deepEqual(records, DMARC.records);
  // Nothing is lost with the record about no message.
  assert.deepEqual(leftOut, { records: 9, messages: 9 });
});

test('a record with an odd author is kept, at the domain that belongs to the policy', () => {
  const cases: [headerFrom: string, expected: string][] = [
    ['news.shop.example, shop.example', 'news.shop.example'],
    ['elsewhere.example;shop.example', 'shop.example'],
    ['elsewhere.example other.example', 'elsewhere.example'],
    ['SHOP.example.', 'shop.example'],
    ['Ann &lt;ann@News.shop.example&gt;', 'news.shop.example'],
    ['"Ann, Bob" ann@shop.example', 'shop.example'],
    ['b\u00fccher.shop.example', 'xn--bcher-kva.shop.example'],
    ['', 'shop.example'],
    ['not a domain', 'shop.example'],
    ['(null)', 'shop.example'],
    ['x'.repeat(5_000), 'shop.example'],
  ];
  for (const [headerFrom, expected] of cases) {
    const record = recordOf('203.0.113.5', 5, undefined, headerFrom);
    const { records, leftOut } = readDmarc(DMARC_XML.replace('</feedback>', `${record}</feedback>`));
    const kept = records.find(({ sourceIp }) => sourceIp === '203.0.113.5');
    assert.deepEqual([kept?.headerFrom, kept?.messages, leftOut.records], [expected, 5, 0], headerFrom);
  }
  const without = recordOf('[203.0.113.5]', 5).replace(/<identifiers>.*<\/identifiers>/, '');
  const { records } = readDmarc(DMARC_XML.replace('</feedback>', `${without}</feedback>`));
  assert.equal(records.find(({ sourceIp }) => sourceIp === '203.0.113.5')?.headerFrom, 'shop.example');
});

test('octets around the file, several members and several files are no obstacle', () => {
  const zip = zipOf(XML);
  const half = Math.floor(XML.length / 2);
  const members = Buffer.concat([gzipSync(XML.subarray(0, half)), gzipSync(XML.subarray(half))]);
  for (const bytes of [
    Buffer.concat([gzipSync(XML), Buffer.from('\r\n')]),
    Buffer.concat([gzipSync(XML), Buffer.from('\r\n-- \r\nA footer of a list\r\n')]),
    Buffer.concat([gzipSync(XML), Buffer.alloc(5_000)]),
    Buffer.concat([Buffer.from('\r\n'), gzipSync(XML), Buffer.from('\n')]),
    members,
    Buffer.concat([members, Buffer.from([0x1f, 0])]),
    Buffer.concat([zip, Buffer.from('\r\n')]),
    Buffer.concat([Buffer.from('\r\n'), zip]),
    Buffer.from(`\ufeff\r\n${DMARC_XML}`),
    Buffer.from(`\ufeff${DMARC_XML}`, 'utf16le'),
    Buffer.from(`\ufeff${DMARC_XML}`, 'utf16le').swap16(),
    Buffer.from(DMARC_XML.replace('encoding="UTF-8"', 'encoding="UTF-16"')),
    zipWith([
      ['folder/', Buffer.alloc(0)],
      ['__MACOSX/._x', Buffer.from('x')],
      ['empty.xml', Buffer.alloc(0)],
      ['r.xml', XML],
    ]),
  ])
    assert.deepEqual(read(messageWith(bytes)), DMARC);
  assert.deepEqual(read(messageWith(gzipSync(XML), 'text/plain')), DMARC, 'a file that is called a text');
  const damaged = gzipSync(XML);
  damaged.writeUInt32LE(0, damaged.length - 8);
  assert.equal(read(messageWith(damaged)), undefined, 'a wrong checksum');
  assert.equal(read(messageWith(gzipSync(XML).subarray(0, -20))), undefined, 'a file that is cut off');
});

test('a header of gzip with a name, a comment and more is skipped', () => {
  const plain = gzipSync(XML);
  const header = Buffer.from([0x1f, 0x8b, 8, 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 2, 0, 7, 7]);
  const names = Buffer.from('report.xml\0a comment\0');
  const bytes = Buffer.concat([header, names, plain.subarray(10), Buffer.from('\r\n')]);
  assert.deepEqual(read(messageWith(bytes)), DMARC);
});

test('a schema before the report that is never closed is skipped', () => {
  for (const before of [
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">',
    '<xs:schema><xs:element name="feedback"><a><b>',
    '<?xml-stylesheet href="x"?><!-- a comment -->',
    `${'<a>'.repeat(100)}`,
  ])
    assert.deepEqual(readDmarc(DMARC_XML.replace('<feedback>', `${before}<feedback>`)), DMARC, before);
  const behind = DMARC_XML.replace('</feedback>', '</feedback><feedback><record/></feedback></xs:schema>');
  assert.deepEqual(readDmarc(behind).records, DMARC.records);
});

test('policies of reports about TLS that cannot be read are counted, with their connections', () => {
  const [policy] = TLS_REPORT.policies;
  const odd = { ...policy, policy: { 'policy-type': 'STS', 'policy-domain': 'Shop.example.' } };
  const wrong = [{ ...policy, policy: { 'policy-type': 'dane' } }, { ...policy, summary: {} }, null];
  const report = read(gzipped(`${JSON.stringify({ ...TLS_REPORT, policies: [odd, ...wrong] })}\r\n`));
  assert.equal(report?.type, 'tls');
  if (report?.type !== 'tls') return;
  assert.deepEqual(
    report.policies.map(({ domain, policyType }) => [domain, policyType]),
    [['shop.example', 'sts']],
  );
  assert.deepEqual(report.leftOut, { records: 3, messages: 53 });
});

test('a report without a period, a domain or an id is none', () => {
  for (const [from, to] of [
    ['<begin>1799971200</begin>', ''],
    ['<begin>1799971200</begin>', '<begin>x</begin>'],
    ['<begin>1799971200</begin>', '<begin>1799971200.0001</begin>'],
    ['<end>1800057599</end>', '<end>1799971100</end>'],
    ['<end>1800057599</end>', '<end>1899971200</end>'],
    ['<begin>1799971200</begin><end>1800057599</end>', '<begin>4102444000</begin><end>4102444801</end>'],
    ['<report_id>17995</report_id>', ''],
    ['<domain>shop.example</domain><adkim>', '<domain>shop</domain><adkim>'],
    ['<feedback>', '<other>'],
  ] as const)
    assert.equal(read(gzipped(DMARC_XML.replace(from, to))), undefined, to);
  for (const change of [
    { 'report-id': '' },
    { 'date-range': null },
    { 'date-range': { 'start-datetime': 'yesterday', 'end-datetime': '2027-01-14T00:00:00Z' } },
  ])
    assert.equal(read(gzipped(JSON.stringify({ ...TLS_REPORT, ...change }))), undefined);
  for (const text of ['', '<', '{', '[]', 'null', '{"policies":', '<feedback/>'])
    assert.equal(read(gzipped(text)), undefined, text);
});

test('texts are short lines without hidden characters', () => {
  const { organization } = readDmarc(DMARC_XML.replace('Big Mail', `\u202e\u0000B\n${'x'.repeat(5_000)}`));
  assert.match(organization, /^B x{196,198}…$/);
});

test('document types and entities are refused, and nesting is limited', () => {
  const bomb = `<!DOCTYPE feedback [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>`;
  for (const xml of [
    DMARC_XML.replace('<feedback>', `${bomb}<feedback>`),
    DMARC_XML.replace('<feedback>', '<!DOCTYPE feedback SYSTEM "file:///etc/passwd"><feedback>'),
    DMARC_XML.replace('<org_name>', `${'<a>'.repeat(20)}<org_name>`),
    `${'<a>'.repeat(1_000_000)}`,
  ])
    assert.equal(read(gzipped(xml)), undefined);
  // An entity that nothing declares stays as it is.
  assert.equal(readDmarc(DMARC_XML.replace('Big Mail &amp; Co', '&b;')).organization, '&b;');
});

test('what is packed is unpacked once and up to a limit', () => {
  const zeros = Buffer.alloc(MAX_UNPACKED_BYTES + 1, ' ');
  for (const bomb of [gzipSync(zeros), zipOf(zeros), zipOf(zeros, { method: 0 }), zeros])
    assert.equal(read(messageWith(bomb)), undefined);
  const chains = [gzipSync(gzipSync(XML)), zipOf(zipOf(XML)), gzipSync(zipOf(XML)), zipOf(gzipSync(XML))];
  for (const chain of chains) assert.equal(read(messageWith(chain)), undefined);
  const largest = `${DMARC_XML}${' '.repeat(MAX_UNPACKED_BYTES - XML.length)}`;
  assert.deepEqual(readDmarc(largest), DMARC);
});

test('archives that lie about their structure are no reports', () => {
  const zip = zipOf(XML);
  const changed = (offset: number, value: number) => {
    const bytes = Buffer.from(zip);
    bytes.writeUInt32LE(value, offset < 0 ? bytes.length + offset : offset);
    return bytes;
  };
  for (const bytes of [
    changed(-6, 0xffffffff),
    changed(-6, zip.length),
    changed(-22, 0),
    changed(0, 0x04034b51),
    zip.subarray(0, 40),
    zip.subarray(0, zip.length - 10),
    zipOf(XML, { method: 12 }),
    Buffer.concat([Buffer.from('PK'), deflateRawSync(XML)]),
    Buffer.from([0x1f, 0x8b, 0]),
  ])
    assert.equal(read(messageWith(bytes)), undefined);
});

test('a report with very many records is read, and records beyond the limit are left out', () => {
  const many = Array.from({ length: 11_000 }, (_, index) =>
    recordOf(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`, 1),
  ).join('');
  const { records, leftOut } = readDmarc(DMARC_XML.replace('</feedback>', `${many}</feedback>`));
  assert.equal(records.length, 10_000);
  assert.deepEqual(leftOut, { records: 1_003, messages: 1_003 });
});

test('a report with very many other elements before its own is none', () => {
  const before = (count: number) => {
    const others = Array.from({ length: count }, (_, index) => `<x${index}>1</x${index}>`).join('');
    return read(gzipped(DMARC_XML.replace('<version>', `${others}<version>`)))?.reportId;
  };
  assert.equal(before(9_000), '17995');
  assert.equal(before(10_000), undefined);
});

test('the first files of a message are tried, and a report in a later one is none', () => {
  const part = (text: string) => `--b\r\nContent-Type: application/xml\r\n\r\n${text}\r\n`;
  const withOthers = (count: number) =>
    read(
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${part('other').repeat(count)}${part(DMARC_XML)}--b--\r\n`,
    )?.reportId;
  assert.equal(withOthers(3), '17995');
  assert.equal(withOthers(4), undefined);
});

test('policies and failures of TLS are limited, and incomplete ones are left out', () => {
  const [policy] = TLS_REPORT.policies;
  const wrong = [
    null,
    [],
    { ...policy, policy: { ...policy?.policy, 'policy-type': 'other' } },
    { ...policy, policy: { ...policy?.policy, 'policy-domain': 'x y' } },
    { ...policy, summary: { 'total-successful-session-count': 1.5, 'total-failure-session-count': 0 } },
    {
      ...policy,
      summary: { 'total-successful-session-count': 1_000_000_001, 'total-failure-session-count': 0 },
    },
    { ...policy, summary: null },
  ];
  const policies = [
    ...wrong,
    { ...policy, 'failure-details': Array(200).fill(policy?.['failure-details']?.[0]) },
  ];
  const report = read(
    gzipped(JSON.stringify({ ...TLS_REPORT, policies: [...policies, ...Array(200).fill(policy)] })),
  );
  assert.ok(report?.type === 'tls');
  assert.deepEqual([report.policies.length, report.policies[0]?.failures.length], [93, 100]);
});
