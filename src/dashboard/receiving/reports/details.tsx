/** What a report says in detail: the sources of mail and how they passed DMARC, or the policies for TLS and what has failed. */
import type { Static } from 'typebox';
import type { reportSchema } from '../../../mail-reports/reports/schemas.ts';
import { Facts, Foreign, Status } from '../../frame/elements.tsx';
import { Table } from '../../frame/lists.tsx';
import type { TenantContext } from '../../page.ts';

export type Report = Static<typeof reportSchema>;

type Context = { context: TenantContext };
type Dmarc = NonNullable<Report['dmarc']>;
type Tls = NonNullable<Report['tls']>;

/** The details of a report. */
export function Details({ context, report }: Context & { report: Report }) {
  const { reports } = context.texts;
  const { number } = context.formats;
  const { dmarc, tls, leftOut } = report;
  return (
    <>
      <Facts
        facts={[
          [reports.reporterDomain, <Foreign text={report.reporter} />],
          [reports.reportId, <Foreign text={report.reportId} />],
        ]}
      />
      {leftOut.records > 0 && <p class="notice">{reports.leftOut(number(leftOut.records))}</p>}
      {dmarc && <DmarcDetails context={context} dmarc={dmarc} />}
      {tls && <TlsDetails context={context} tls={tls} />}
    </>
  );
}

function DmarcDetails({ context, dmarc }: Context & { dmarc: Dmarc }) {
  const { reports, frame } = context.texts;
  const { number } = context.formats;
  const passes = (isPass: boolean) => (
    <Status tone={isPass ? 'good' : 'bad'}>{isPass ? frame.yes : frame.no}</Status>
  );
  return (
    <>
      <Facts
        facts={[
          [reports.policyDomain, <Foreign text={dmarc.domain} />],
          [reports.policy, <code>{dmarc.policy}</code>],
          ...(dmarc.otherMessages > 0 ? [[reports.otherMessages, number(dmarc.otherMessages)] as const] : []),
        ]}
      />
      <Table
        context={context}
        caption={reports.sources}
        rows={dmarc.records.map((record, index) => ({ ...record, index }))}
        keyOf={({ index }) => String(index)}
        columns={[
          { label: reports.source, cell: ({ sourceIp }) => <Foreign text={sourceIp} /> },
          { label: reports.author, cell: ({ headerFrom }) => <Foreign text={headerFrom} /> },
          { label: reports.messages, cell: ({ messages }) => number(messages), isNumeric: true },
          { label: 'DKIM', cell: ({ dkim }) => passes(dkim) },
          { label: 'SPF', cell: ({ spf }) => passes(spf) },
          { label: reports.disposition, cell: ({ disposition }) => reports.dispositions[disposition] },
        ]}
      />
    </>
  );
}

function TlsDetails({ context, tls: { policies } }: Context & { tls: Tls }) {
  const { reports } = context.texts;
  const { number } = context.formats;
  const failures = policies.flatMap(({ domain, failures: all }) => all.map((one) => ({ ...one, domain })));
  return (
    <>
      <Table
        context={context}
        caption={reports.policies}
        rows={policies.map((policy, index) => ({ ...policy, index }))}
        keyOf={({ index }) => String(index)}
        columns={[
          { label: reports.policyDomain, cell: ({ domain }) => <Foreign text={domain} /> },
          { label: reports.policy, cell: ({ policyType }) => reports.policyTypes[policyType] },
          { label: reports.passed, cell: ({ succeeded }) => number(succeeded), isNumeric: true },
          { label: reports.failed, cell: ({ failed }) => number(failed), isNumeric: true },
        ]}
      />
      {failures.length > 0 && (
        <Table
          context={context}
          caption={reports.failures}
          rows={failures.map((failure, index) => ({ ...failure, index }))}
          keyOf={({ index }) => String(index)}
          columns={[
            { label: reports.failure, cell: ({ resultType }) => <Foreign text={resultType} /> },
            { label: reports.host, cell: ({ receivingHost }) => <Foreign text={receivingHost} /> },
            { label: reports.sessions, cell: ({ sessions }) => number(sessions), isNumeric: true },
          ]}
        />
      )}
    </>
  );
}
