/** Response shapes of reports about a domain. */
import { type Static, Type } from 'typebox';
import type { ReceivedReportRow } from '../../db/inbound-tables.ts';
import { isoTime } from '../../system/clock.ts';
import type { ReportDetails } from './select.ts';
import type { ReportSum } from './store.ts';

export const reportFilter = {
  type: Type.Optional(Type.Enum(['dmarc', 'tls'], { description: 'Only reports of this type.' })),
};

const disposition = Type.Enum(['none', 'quarantine', 'reject']);

const dmarcSchema = Type.Object({
  domain: Type.String({ description: 'Domain whose policy was applied.' }),
  policy: disposition,
  records: Type.Array(
    Type.Object({
      sourceIp: Type.String({ description: 'Address that the messages came from.' }),
      messages: Type.Integer(),
      disposition,
      dkim: Type.Boolean({ description: 'True when DKIM passed for an aligned domain.' }),
      spf: Type.Boolean({ description: 'True when SPF passed for an aligned domain.' }),
      headerFrom: Type.String({ description: 'Domain of the author.' }),
    }),
    { description: 'The records with the most messages, at most 50.' },
  ),
  otherMessages: Type.Integer({ description: 'Number of messages in records that are not listed.' }),
});

const tlsSchema = Type.Object({
  policies: Type.Array(
    Type.Object({
      domain: Type.String(),
      policyType: Type.Enum(['tlsa', 'sts', 'no-policy-found']),
      succeeded: Type.Integer(),
      failed: Type.Integer(),
      failures: Type.Array(
        Type.Object({
          resultType: Type.String({ description: 'Such as `certificate-expired` (RFC 8460 section 4.3).' }),
          sessions: Type.Integer(),
          receivingHost: Type.Union([Type.String(), Type.Null()]),
        }),
      ),
    }),
  ),
});

export const reportSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum(['dmarc', 'tls']),
    reporter: Type.String({ description: 'Domain that sent the report, as DMARC or DKIM proves.' }),
    organization: Type.String({ description: 'Name that the reporter gives itself.' }),
    reportId: Type.String({ description: 'Id that the reporter gave the report.' }),
    periodStart: Type.String({ description: 'ISO 8601.' }),
    periodEnd: Type.String({ description: 'ISO 8601.' }),
    passed: Type.Integer({ description: 'Messages that passed DMARC, or connections with TLS.' }),
    failed: Type.Integer({ description: 'Messages that failed DMARC, or connections whose TLS failed.' }),
    leftOut: Type.Object(
      {
        records: Type.Integer({ description: 'Records about DMARC, or policies about TLS.' }),
        messages: Type.Integer({ description: 'Messages, or connections, in those of them that say it.' }),
      },
      { description: 'The part of the whole report that could not be read, and is not counted above.' },
    ),
    dmarc: Type.Union([dmarcSchema, Type.Null()], { description: 'Details of a report about DMARC.' }),
    tls: Type.Union([tlsSchema, Type.Null()], { description: 'Details of a report about TLS.' }),
    createdAt: Type.String({ description: 'Time at which the report arrived.' }),
  },
  {
    title: 'DomainReport',
    examples: [
      {
        id: 'rep_01khq3z5vgxw1r8t6n2m4c9b7d',
        type: 'dmarc',
        reporter: 'google.com',
        organization: 'google.com',
        reportId: '1234567890',
        periodStart: '2026-02-28T00:00:00.000Z',
        periodEnd: '2026-02-28T23:59:59.000Z',
        passed: 120,
        failed: 2,
        leftOut: { records: 0, messages: 0 },
        dmarc: {
          domain: 'news.example.com',
          policy: 'none',
          records: [
            {
              sourceIp: '192.0.2.1',
              messages: 122,
              disposition: 'none',
              dkim: true,
              spf: true,
              headerFrom: 'news.example.com',
            },
          ],
          otherMessages: 0,
        },
        tls: null,
        createdAt: '2026-03-01T04:00:00.000Z',
      },
    ],
  },
);

export const reportSumsSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        day: Type.String({ description: 'Day in UTC on which the reports begin, such as `2026-03-01`.' }),
        type: Type.Enum(['dmarc', 'tls']),
        reports: Type.Integer({ description: 'Number of reports.' }),
        passed: Type.Number({ description: 'Messages that passed DMARC, or connections with TLS.' }),
        failed: Type.Number({ description: 'Messages that failed DMARC, or connections whose TLS failed.' }),
      }),
      { description: 'The oldest day first.' },
    ),
  },
  {
    title: 'DomainReportSums',
    examples: [{ data: [{ day: '2026-02-28', type: 'dmarc', reports: 3, passed: 420, failed: 7 }] }],
  },
);

/** Returns sums as the API shows them. */
export function showSums(sums: readonly ReportSum[]): Static<typeof reportSumsSchema> {
  return {
    data: sums.map(({ dayAt, ...sum }) => ({ day: isoTime(dayAt).slice(0, DAY_CHARACTERS), ...sum })),
  };
}

const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

/** Returns a report as the API shows it. */
export function showReport(row: ReceivedReportRow): Static<typeof reportSchema> {
  const { dmarc, tls, leftOut = { records: 0, messages: 0 } } = JSON.parse(row.details) as ReportDetails;
  return {
    id: row.id,
    type: row.type,
    reporter: row.reporter,
    organization: row.organization,
    reportId: row.reportId,
    periodStart: isoTime(row.beginAt),
    periodEnd: isoTime(row.endAt),
    passed: row.passed,
    failed: row.failed,
    leftOut,
    dmarc,
    tls,
    createdAt: isoTime(row.createdAt),
  };
}
