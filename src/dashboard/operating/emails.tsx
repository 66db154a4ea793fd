/** The newest emails of all tenants, by tenant and recipient. Envelopes alone, never subjects. */
import type { ShownMessage } from '../../queue/control/message-api.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { FilterField, Filters, Table } from '../frame/lists.tsx';
import { type Contexts, definePage } from '../page.ts';
import { answerOf, Refused } from './queue/criteria.tsx';
import { QueueTabs } from './queue/tabs.tsx';

/** Maximum number of emails on the page, which stays within 100 kB. */
const MAX_LISTED = 50;

export const operatorEmailsPage = definePage({
  area: 'operator',
  path: '/emails',
  async show(context) {
    const { operator, query, formats, texts } = context;
    const { sites, queue } = texts;
    const [tenant, to] = ['tenant', 'to'].map((name) => (query.get(name) ?? '').trim());
    // Addresses have an index in each tenant, of which there may be thousands.
    const needsTenant = to !== '' && tenant === '';
    const listed = needsTenant
      ? { emails: [] }
      : await answerOf(
          operator.get<{ emails: ShownMessage[] }>('/emails', { tenant, to, limit: MAX_LISTED }),
        );
    return {
      title: sites.allEmails,
      body: (
        <>
          <Heading title={sites.allEmails} />
          <QueueTabs context={context} />
          <p>
            {sites.allEmailsText} {sites.newest(formats.number(MAX_LISTED))}
          </p>
          <Filters context={context}>
            <FilterField context={context} name="tenant" label={queue.tenantHelp} />
            <FilterField context={context} name="to" label={sites.to} />
          </Filters>
          {needsTenant && (
            <p class="refused" role="alert">
              {sites.needTenant}
            </p>
          )}
          {listed instanceof Error ? (
            <Refused refusal={listed} />
          ) : (
            <MessageTable context={context} emails={listed.emails} />
          )}
        </>
      ),
    };
  },
});

function MessageTable({
  context,
  emails,
}: {
  context: Contexts['operator'];
  emails: readonly ShownMessage[];
}) {
  const { queue, frame, emails: texts } = context.texts;
  return (
    <Table
      context={context}
      caption={context.texts.sites.allEmails}
      rows={emails}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? frame.noMatch : undefined}
      columns={[
        { label: queue.emailId, cell: ({ id }) => <a href={`/operator/queue/emails/${id}`}>{id}</a> },
        { label: queue.accepted, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
        { label: queue.sender, cell: ({ sender }) => <Foreign text={sender} /> },
        { label: queue.status, cell: ({ status }) => texts.statuses[status] },
        { label: queue.kind, cell: ({ kind }) => queue.kinds[kind] },
        { label: queue.mode, cell: ({ mode }) => frame[mode] },
        { label: queue.tenant, cell: ({ tenantId }) => <code>{tenantId}</code> },
      ]}
    />
  );
}
