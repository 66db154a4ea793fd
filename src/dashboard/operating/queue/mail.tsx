/** The list of mail that waits, is held or is being sent, with filters that stand in the address of the page. Envelopes only. */

import { answerOf } from '../../../http/json/calls.ts';
import { OPEN_STATES } from '../../../queue/control/list-store.ts';
import type { ShownRecipient } from '../../../queue/control/show.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { FilterSelect, Filters, NextPager, Table } from '../../frame/lists.tsx';
import { ReplyClass } from '../../frame/reply-class.tsx';
import { definePage } from '../../page.ts';
import { TenantLink } from '../tenant-link.tsx';
import { CriteriaFields, changePath, type OperatorContext, Refused, readCriteria } from './criteria.tsx';
import { stateText } from './state-text.ts';
import { QueueTabs } from './tabs.tsx';

type Listed = { hasMore: boolean; next: string | null; recipients: ShownRecipient[] };

/** Maximum number of recipients on the page, which stays within 100 kB. */
const MAX_LISTED = 50;

export const queueMailPage = definePage({
  area: 'operator',
  path: '/queue/mail',
  async show(context) {
    const { operator, query, texts } = context;
    const { queue } = texts;
    const criteria = readCriteria((name) => query.get(name));
    const asked = {
      ...criteria,
      state: query.get('state') ?? '',
      limit: MAX_LISTED,
      after: query.get('after') ?? '',
    };
    const listed = await answerOf(operator.get<Listed>('/queue/recipients', asked));
    const states = OPEN_STATES.map((value) => ({ value, label: queue.states[value] }));
    return {
      title: queue.mail,
      body: (
        <>
          <Heading title={query.get('state') === 'held' ? queue.heldMail : queue.mail}>
            <a href={changePath(criteria)}>{queue.change}</a>
          </Heading>
          <QueueTabs context={context} />
          <p>{queue.text}</p>
          <Filters context={context}>
            <FilterSelect context={context} name="state" label={queue.state} options={states} />
            <CriteriaFields context={context} />
          </Filters>
          {listed instanceof Error ? (
            <Refused context={context} refusal={listed} />
          ) : (
            <>
              <RecipientTable context={context} recipients={listed.recipients} />
              <NextPager context={context} next={listed.next} />
            </>
          )}
        </>
      ),
    };
  },
});

function RecipientTable({
  context,
  recipients,
}: {
  context: OperatorContext;
  recipients: readonly ShownRecipient[];
}) {
  const { queue, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={queue.mail}
      rows={recipients}
      keyOf={({ emailId, to }) => `${emailId} ${to}`}
      empty={context.query.size > 0 ? frame.noMatch : queue.empty}
      columns={[
        {
          label: queue.to,
          cell: ({ emailId, to }) => (
            <a href={`/operator/queue/emails/${encodeURIComponent(emailId)}`}>
              <Foreign text={to} />
            </a>
          ),
        },
        { label: queue.state, cell: (recipient) => stateText(context.texts, recipient.state) },
        { label: queue.attempts, isNumeric: true, cell: ({ attempts }) => context.formats.number(attempts) },
        {
          label: queue.nextAttempt,
          cell: ({ nextAttemptAt }) =>
            nextAttemptAt === null ? null : <Time context={context} at={nextAttemptAt} />,
        },
        {
          label: queue.replies,
          cell: ({ diagnostic, class: replyClass }) => (
            <>
              <Foreign text={diagnostic} />
              <div>
                <ReplyClass context={context} name={replyClass} />
              </div>
            </>
          ),
        },
        { label: queue.accepted, cell: ({ acceptedAt }) => <Time context={context} at={acceptedAt} /> },
        { label: queue.tenant, cell: ({ tenantId }) => <TenantLink id={tenantId} /> },
      ]}
    />
  );
}
