/** Messages with reports, and archives to put into them. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** An aggregate report about shop.example and a domain below it, with a record about another domain. */
export const DMARC_XML = `<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <version>1.0</version>
  <report_metadata>
    <org_name>Big Mail &amp; Co</org_name>
    <email>noreply-dmarc@big.example</email>
    <report_id>17995</report_id>
    <date_range><begin>1799971200</begin><end>1800057599</end></date_range>
  </report_metadata>
  <policy_published><domain>shop.example</domain><adkim>r</adkim><aspf>r</aspf><p>quarantine</p><sp>none</sp><pct>100</pct></policy_published>
${recordOf('192.0.2.1', 12, { dkim: 'pass', spf: 'fail' })}
${recordOf('2001:DB8::1', 3, { dkim: 'fail', spf: 'fail', disposition: 'quarantine' }, 'news.shop.example')}
${recordOf('192.0.2.1', 8, { dkim: 'pass', spf: 'fail' })}
${recordOf('198.51.100.7', 99, { dkim: 'pass', spf: 'pass' }, 'elsewhere.example')}
</feedback>
`;

type Results = { dkim: string; spf: string; disposition?: string };

/** Returns a record of an aggregate report. */
export function recordOf(
  sourceIp: string,
  count: number | string,
  { dkim, spf, disposition = 'none' }: Results = { dkim: 'pass', spf: 'pass' },
  headerFrom = 'shop.example',
): string {
  return `<record><row><source_ip>${sourceIp}</source_ip><count>${count}</count><policy_evaluated>
    <disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row>
    <identifiers><header_from>${headerFrom}</header_from></identifiers>
    <auth_results><dkim><domain>shop.example</domain><result>pass</result></dkim>
    <spf><domain>shop.example</domain><result>fail</result></spf></auth_results></record>`;
}

/** A report about TLS. */
export const TLS_REPORT = {
  'organization-name': 'Big Mail',
  'date-range': { 'start-datetime': '2027-01-14T00:00:00Z', 'end-datetime': '2027-01-14T23:59:59Z' },
  'contact-info': 'tls@big.example',
  'report-id': '2027-01-14-shop',
  policies: [
    {
      policy: { 'policy-type': 'sts', 'policy-string': ['version: STSv1'], 'policy-domain': 'shop.example' },
      summary: { 'total-successful-session-count': 50, 'total-failure-session-count': 3 },
      'failure-details': [
        {
          'result-type': 'certificate-expired',
          'sending-mta-ip': '192.0.2.9',
          'receiving-mx-hostname': 'mx.postrider.example',
          'failed-session-count': 3,
        },
      ],
    },
    {
      policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'elsewhere.example' },
      summary: { 'total-successful-session-count': 7, 'total-failure-session-count': 0 },
    },
  ],
};

/** Returns a message whose second part is the file. */
export function messageWith(file: Uint8Array, type = 'application/gzip'): string {
  const encoded = Buffer.from(file).toString('base64').replace(/.{76}/g, '$&\r\n');
  return [
    'From: noreply-dmarc@big.example',
    'Subject: Report Domain: shop.example',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    '<feedback> is in the file.',
    '--b',
    `Content-Type: ${type}; name="report"`,
    'Content-Transfer-Encoding: base64',
    '',
    encoded,
    '--b--',
    '',
  ].join('\r\n');
}

/** Returns a message with the text, compressed with gzip. */
export function gzipped(text: string): string {
  return messageWith(gzipSync(text));
}

type ZipOptions = { method?: number; comment?: string };

/** Returns a ZIP archive with one file. */
export function zipOf(content: Uint8Array, options: ZipOptions = {}): Buffer {
  return zipWith([['big.example!shop.example!1.xml', content]], options);
}

/** Returns a ZIP archive with these files. */
export function zipWith(
  files: readonly [name: string, content: Uint8Array][],
  { method = 8, comment = '' }: ZipOptions = {},
): Buffer {
  let locals = Buffer.alloc(0);
  let entries = Buffer.alloc(0);
  for (const [text, content] of files) {
    const name = Buffer.from(text);
    const packed = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(locals.length, 10);
    locals = Buffer.concat([locals, Buffer.from('PK\u0003\u0004'), common, name, packed]);
    entries = Buffer.concat([entries, Buffer.from('PK\u0001\u0002\u0014\u0000'), common, rest, name]);
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(locals.length, 12);
  end.writeUInt16LE(comment.length, 16);
  return Buffer.concat([locals, entries, Buffer.from('PK\u0005\u0006'), end, Buffer.from(comment)]);
}
