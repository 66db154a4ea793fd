import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import {
  type AggregateReport,
  composeReport,
  type Observation,
} from '../../../src/mail/dmarc/aggregate-report.ts';
import { readReport } from '../../../src/mail/reports/read.ts';

const PASSED: Observation = {
  sourceIp: '192.0.2.1',
  disposition: 'pass',
  dkim: 'pass',
  spf: 'fail',
  headerFrom: 'news.a.example',
  envelopeFrom: '',
  dkimResults: [{ domain: 'a.example', selector: 's1', result: 'pass' }],
  spfResult: { domain: 'b.example', result: 'softfail' },
};
const REPORT: AggregateReport = {
  submitter: 'mx.postrider.example',
  contact: 'postmaster@mx.postrider.example',
  generator: 'Postrider 1.0',
  domain: 'a.example',
  id: '01abc',
  begin: 1_800_000_000,
  end: 1_800_086_399,
  tags: new Map([
    ['v', 'DMARC1'],
    ['p', 'Quarantine'],
    ['np', 'reject'],
    ['aspf', 'S'],
    ['fo', '1:d'],
    ['t', 'y'],
  ]),
  rows: [
    { observation: PASSED, messages: 3 },
    {
      observation: {
        ...PASSED,
        disposition: 'none',
        dkim: 'fail',
        reason: 'trusted_forwarder',
        dkimResults: [],
      },
      messages: 1,
    },
  ],
};

function compose(change: Partial<AggregateReport> = {}) {
  const { bytes } = composeReport({ ...REPORT, ...change }, ['r@a.example', 's@a.example']);
  const text = bytes.toString();
  const [, encoded = ''] = /base64\r\n\r\n([A-Za-z0-9+/=\r\n]+?)\r\n--/.exec(text) ?? [];
  return { bytes, text, xml: gunzipSync(Buffer.from(encoded, 'base64')).toString() };
}

/** Returns what stands in the first element of this name, in one line. */
function contentOf(xml: string, name: string): string {
  const [, content] = new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, 's').exec(xml) ?? [];
  return (content ?? assert.fail(name)).replaceAll('\n', '');
}

test('a report has the elements of RFC 9990, in their order', () => {
  const { xml } = compose();
  assert.match(xml, /^<\?xml [^>]*\?>\n<feedback xmlns="urn:ietf:params:xml:ns:dmarc-2\.0">\n<version>1\.0</);
  assert.equal(
    contentOf(xml, 'report_metadata'),
    '<org_name>mx.postrider.example</org_name><email>postmaster@mx.postrider.example</email><report_id>01abc</report_id>' +
      '<date_range><begin>1800000000</begin><end>1800086399</end></date_range><generator>Postrider 1.0</generator>',
  );
  assert.equal(
    contentOf(xml, 'policy_published'),
    '<domain>a.example</domain><discovery_method>treewalk</discovery_method><p>quarantine</p><sp>quarantine</sp><np>reject</np>' +
      '<fo>1:d</fo><adkim>r</adkim><aspf>s</aspf><testing>y</testing>',
  );
  assert.equal(
    contentOf(xml, 'record'),
    '<row><source_ip>192.0.2.1</source_ip><count>3</count>' +
      '<policy_evaluated><disposition>pass</disposition><dkim>pass</dkim><spf>fail</spf></policy_evaluated></row>' +
      '<identifiers><header_from>news.a.example</header_from><envelope_from></envelope_from></identifiers>' +
      '<auth_results><dkim><domain>a.example</domain><selector>s1</selector><result>pass</result></dkim>' +
      '<spf><domain>b.example</domain><scope>mfrom</scope><result>softfail</result></spf></auth_results>',
  );
  assert.match(
    xml,
    /<spf>fail<\/spf>\n<reason>\n<type>trusted_forwarder<\/type>\n<\/reason>\n<\/policy_evaluated>/,
  );
});

test('a record that names a policy that does not exist is reported as it is applied', () => {
  for (const tags of [{}, { p: 'other', sp: 'reject' }, { p: 'reject', sp: 'x' }, { p: 'reject', np: '' }])
    assert.match(
      contentOf(compose({ tags: new Map(Object.entries(tags)) }).xml, 'policy_published'),
      /<p>none<\/p><sp>none<\/sp><np>none<\/np><fo>0<\/fo>.*<testing>n</,
    );
  const { xml } = compose({
    tags: new Map([
      ['p', 'reject'],
      ['sp', 'none'],
    ]),
  });
  assert.match(contentOf(xml, 'policy_published'), /<p>reject<\/p><sp>none<\/sp><np>none<\/np>/);
});

test('the message has the subject, the file and the id of RFC 9990, and our own reader reads it', () => {
  const { bytes, text } = compose();
  assert.match(
    text,
    /\r\nSubject: Report Domain: a\.example\r\n Submitter: mx\.postrider\.example\r\n Report-ID: <01abc>\r\n/,
  );
  assert.match(text, /^To: r@a\.example,\r\n s@a\.example\r\n/m);
  assert.match(
    text,
    /Content-Type: application\/gzip\r\nContent-Disposition: attachment;\r\n filename="mx\.postrider\.example!a\.example!1800000000!1800086399!01abc\.xml\.gz"\r\n/,
  );
  const report = readReport(bytes);
  assert.ok(report?.type === 'dmarc');
  assert.deepEqual(
    [report.reportId, report.domain, report.policy, report.records.length],
    ['01abc', 'a.example', 'quarantine', 2],
  );
});

test('names of strangers end no element, and stay readable', () => {
  const observation = { ...PASSED, envelopeFrom: 'x</envelope_from><count>9</count>&\u0000' };
  const { xml } = compose({ rows: [{ observation, messages: 1 }] });
  assert.match(xml, /<envelope_from>x&#60;\/envelope_from&#62;&#60;count&#62;9&#60;\/count&#62;&#38;\?</);
});
