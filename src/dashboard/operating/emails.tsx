/** The newest emails of all tenants, by tenant and recipient. Envelopes alone, never subjects. */

import { answerOf } from '../../http/json/calls.ts';
import type { ShownMessage, ShownMessages } from '../../queue/control/message-api.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { FilterField, Filters, NextPager, Table } from '../frame/lists.tsx';
import { type Contexts, definePage } from '../page.ts';
import { Refused } from './queue/criteria.tsx';
import { QueueTabs } from './queue/tabs.tsx';
import { TenantLink } from './tenant-link.tsx';

/** Number of emails on a page, which stays within 100 kB. */
const PAGE_SIZE = 50;

export const operatorEmailsPage = definePage({
  area: 'operator',
  path: '/emails',
  within: '/queue',
  async show(context) {
    const { operator, query, texts } = context;
    const { sites, queue } = texts;
    const [tenant, to, after] = ['tenant', 'to', 'after'].map((name) => (query.get(name) ?? '').trim());
    // Addresses have an index in each tenant, of which there may be thousands.
    const needsTenant = to !== '' && tenant === '';
    const listed = needsTenant
      ? { emails: [], next: null }
      : await answerOf(operator.get<ShownMessages>('/emails', { tenant, to, after, limit: PAGE_SIZE }));
    return {
      title: sites.allEmails,
      body: (
        <>
          <Heading title={sites.allEmails} />
          <QueueTabs context={context} />
          <p>{sites.allEmailsText}</p>
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
            <Refused context={context} refusal={listed} />
          ) : (
            <>
              <MessageTable context={context} emails={listed.emails} />
              <NextPager context={context} next={listed.next} />
            </>
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
        { label: queue.tenant, cell: ({ tenantId }) => <TenantLink id={tenantId} /> },
      ]}
    />
  );
}
