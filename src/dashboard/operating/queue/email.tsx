/** One email as the operator sees it: its envelope, why each recipient waits, every attempt, and what servers have said. Never its content. */

import { path } from '../../../http/json/calls.ts';
import type { MessageDetails } from '../../../queue/control/message-api.ts';
import type { ShownAction, ShownRecipient } from '../../../queue/control/show.ts';
import { Copyable, Facts, Foreign, Heading, Time } from '../../frame/elements.tsx';
import { Pager, pageIn, Table } from '../../frame/lists.tsx';
import { ReplyClass } from '../../frame/reply-class.tsx';
import { SmtpSession } from '../../frame/smtp-session.tsx';
import { definePage } from '../../page.ts';
import { ActionTable } from './actions.tsx';
import { changePath, type OperatorContext, tracePath } from './criteria.tsx';
import { stateText } from './state-text.ts';

/** Number of recipients, and of the newest attempts, on a page. Each may have a reply of 1,000 characters. */
const SHOWN = 25;

type Queued = { recipients: ShownRecipient[]; actions: ShownAction[] };

export const queueEmailPage = definePage({
  area: 'operator',
  path: '/queue/emails/:id',
  async show(context) {
    const { operator, params, texts } = context;
    const { queue } = texts;
    const id = params['id'] ?? '';
    const [details, queued] = await Promise.all([
      operator.get<MessageDetails>(path`/emails/${id}`),
      operator.get<Queued>(path`/queue/emails/${id}`),
    ]);
    return {
      title: `${queue.email} ${id}`,
      body: (
        <>
          <Heading title={queue.email}>
            <a href="/operator/queue/mail">{queue.mail}</a>
            <a href={changePath({ email: id })}>{queue.actOnEmail}</a>
          </Heading>
          <Envelope context={context} details={details} />
          <h2>{queue.why}</h2>
          <Recipients context={context} recipients={queued.recipients} />
          {queued.actions.length > 0 && (
            <>
              <h2>{queue.actionsOn}</h2>
              <ActionTable context={context} actions={queued.actions} />
            </>
          )}
          <h2>{queue.log}</h2>
          <Attempts context={context} attempts={details.attempts} />
          {details.conversations.length > 0 && <h2>{queue.conversations}</h2>}
          {details.conversations.map((one) => (
            <Conversation key={`${one.at} ${one.site}`} context={context} conversation={one} />
          ))}
        </>
      ),
    };
  },
});

function Envelope({ context, details }: { context: OperatorContext; details: MessageDetails }) {
  const { queue } = context.texts;
  const { id, tenantId, mode, kind, status, sender, createdAt, expiresAt } = details;
  return (
    <Facts
      facts={[
        [queue.emailId, <Copyable key="" context={context} text={id} />],
        [queue.status, context.texts.emails.statuses[status]],
        [queue.sender, <Foreign key="" text={sender} />],
        [queue.tenant, <code key="">{tenantId}</code>],
        [queue.mode, context.texts.frame[mode]],
        [queue.kind, queue.kinds[kind]],
        [queue.accepted, <Time key="" context={context} at={createdAt} />],
        [queue.expiresAt, <Time key="" context={context} at={expiresAt} />],
      ]}
    />
  );
}

function Recipients({
  context,
  recipients,
}: {
  context: OperatorContext;
  recipients: readonly ShownRecipient[];
}) {
  const { queue } = context.texts;
  const rows = recipients.map((recipient) => ({ ...recipient, id: recipient.to }));
  const page = pageIn(rows, context.query, SHOWN);
  return (
    <>
      <Table
        context={context}
        caption={queue.recipients}
        rows={page.data}
        keyOf={({ id }) => id}
        columns={[
          { label: queue.to, cell: ({ to }) => <Foreign text={to} /> },
          { label: queue.state, cell: ({ state }) => stateText(context.texts, state) },
          {
            label: queue.nextAttempt,
            cell: ({ nextAttemptAt }) =>
              nextAttemptAt === null ? null : <Time context={context} at={nextAttemptAt} />,
          },
          {
            label: queue.attempts,
            isNumeric: true,
            cell: ({ attempts }) => context.formats.number(attempts),
          },
          { label: queue.lastReply, cell: ({ diagnostic }) => <Foreign text={diagnostic} /> },
          {
            label: queue.class,
            cell: (recipient) => <ReplyClass context={context} name={recipient.class} />,
          },
          { label: queue.server, cell: ({ mx }) => <Foreign text={mx} /> },
          { label: queue.target, cell: ({ target }) => <Foreign text={target} /> },
        ]}
      />
      <Pager context={context} page={page} isOrdered />
    </>
  );
}

function Attempts({ context, attempts }: { context: OperatorContext; attempts: MessageDetails['attempts'] }) {
  const { queue } = context.texts;
  const { outcomes } = context.texts.email;
  const newest = attempts.slice(-SHOWN);
  const note = context.texts.email.newestAttempts(context.formats.number(SHOWN));
  return (
    <>
      {attempts.length > SHOWN && <p class="muted">{note}</p>}
      <Table
        context={context}
        caption={queue.log}
        rows={newest.map((attempt, index) => ({ ...attempt, index }))}
        keyOf={({ index }) => String(index)}
        empty={queue.noAttempts}
        columns={[
          { label: queue.at, cell: ({ at }) => <Time context={context} at={at} /> },
          { label: queue.to, cell: ({ to }) => <Foreign text={to} /> },
          { label: queue.outcome, cell: ({ outcome }) => outcomes[outcome] },
          { label: queue.phase, cell: ({ phase }) => <code>{phase}</code> },
          {
            label: queue.server,
            cell: ({ mx, address }) => <Foreign text={`${mx ?? ''} ${address ?? ''}`} />,
          },
          {
            label: queue.took,
            cell: ({ durationMs }) => queue.milliseconds(context.formats.number(durationMs)),
          },
          { label: queue.lastReply, cell: ({ reply }) => <Foreign text={reply} /> },
        ]}
      />
    </>
  );
}

function Conversation({
  context,
  conversation: { at, site, lines },
}: {
  context: OperatorContext;
  conversation: MessageDetails['conversations'][number];
}) {
  return (
    <section>
      <h3>
        <a href={tracePath(site)}>
          <Foreign text={site} />
        </a>{' '}
        <Time context={context} at={at} />
      </h3>
      <SmtpSession label={`${site}, ${context.formats.exactTime(at)}`} lines={lines} />
    </section>
  );
}
