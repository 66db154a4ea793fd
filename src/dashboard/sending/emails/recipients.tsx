/** Shows the outcome for each recipient of an email: its state, what the last reply means, what to do, and why it waits. */
import type { Static } from 'typebox';
import { isSimulatorDomain } from '../../../domains/sender.ts';
import type { emailSchema } from '../../../emails/show.ts';
import { Foreign, Sentence, Time } from '../../frame/elements.tsx';
import { Pager, pageIn, Table } from '../../frame/lists.tsx';
import { meaningOf } from '../../frame/reply-class.tsx';
import type { TenantContext } from '../../page.ts';
import { RecipientStatusMark } from './states.tsx';

export type Email = Static<typeof emailSchema>;
type Recipient = Email['recipients'][number];
type Props = { context: TenantContext; recipient: Recipient };

/** Number of recipients on a page, of which each may have a reply of 1,000 characters. */
const SHOWN_RECIPIENTS = 30;

/** The recipients of an email, each in a row. */
export function Recipients({
  context,
  recipients,
}: {
  context: TenantContext;
  recipients: Email['recipients'];
}) {
  const { email } = context.texts;
  const rows = recipients.map((recipient) => ({ ...recipient, id: recipient.email }));
  const page = pageIn(rows, context.query, SHOWN_RECIPIENTS);
  return (
    <>
      <Table
        context={context}
        caption={email.recipients}
        rows={page.data}
        keyOf={({ id }) => id}
        columns={[
          {
            label: email.recipient,
            cell: ({ email: address, type }) => (
              <>
                <Foreign text={address} /> <small class="muted">{type !== 'to' && type}</small>
              </>
            ),
          },
          {
            label: email.status,
            cell: ({ status }) => <RecipientStatusMark context={context} status={status} />,
          },
          { label: email.outcome, cell: (recipient) => <Outcome context={context} recipient={recipient} /> },
          {
            label: email.attempts,
            isNumeric: true,
            cell: ({ attempts }) => context.formats.number(attempts),
          },
          { label: email.server, cell: (recipient) => <Server context={context} recipient={recipient} /> },
        ]}
      />
      <Pager context={context} page={page} isOrdered />
    </>
  );
}

function Outcome({ context, recipient }: Props) {
  const { email } = context.texts;
  const { smtpCode, enhancedCode, diagnostic, advice } = recipient;
  const codes = [smtpCode, enhancedCode].filter((code) => code !== null).join(' ');
  const hasCodes = diagnostic === null || codes === '' || diagnostic.includes(codes);
  return (
    <>
      <Waiting context={context} recipient={recipient} />
      {diagnostic !== null && (
        <div>
          <span class="muted">{email.reply}: </span>
          <code>
            <Foreign text={hasCodes ? diagnostic : `${codes} ${diagnostic}`} />
          </code>
        </div>
      )}
      <Meaning context={context} recipient={recipient} />
      {advice !== null && (
        <div>
          <span class="muted">{email.advice}: </span>
          <Sentence context={context} text={advice} />
        </div>
      )}
    </>
  );
}

function Meaning({ context, recipient }: Props) {
  const { email } = context.texts;
  const name = recipient.class;
  if (name === null) return null;
  return (
    <div>
      <span class="muted">{email.meaning}: </span>
      <strong>{meaningOf(context.texts, name)}</strong> <code>{name}</code>
    </div>
  );
}

/** The reason for which a recipient waits, as far as the queue knows it. */
function Waiting({ context, recipient: { status, holdReason, nextAttemptAt, waiting } }: Props) {
  const { email } = context.texts;
  if (status === 'held' && holdReason === 'approval') return <div>{email.approvalText}</div>;
  if (status === 'held') return <div>{email.heldText}</div>;
  if (status === 'sent') return <div>{email.inFlight}</div>;
  if (status !== 'queued' && status !== 'deferred') return null;
  if (nextAttemptAt === null) return <div>{email.parked}</div>;
  if (waiting !== null)
    return (
      <div>
        {email.waits[waiting.reason]}{' '}
        {waiting.until !== null && (
          <>
            {email.until} <Time context={context} at={waiting.until} />
          </>
        )}
      </div>
    );
  if (Date.parse(nextAttemptAt) <= context.app.clock.now()) return <div>{email.due}</div>;
  return (
    <div>
      {email.nextAttempt} <Time context={context} at={nextAttemptAt} />
    </div>
  );
}

function Server({ context, recipient: { email: address, attempts, mx, tls } }: Props) {
  const { app, mode, texts } = context;
  const { email, frame } = texts;
  const isSimulated =
    mode === 'test' || isSimulatorDomain(app.config, address.slice(address.lastIndexOf('@') + 1));
  if (mx === null && isSimulated && attempts > 0) return email.simulator;
  if (mx === null) return <span class="muted">{attempts > 0 ? frame.none : email.noServerYet}</span>;
  return (
    <>
      <Foreign text={mx} />
      <br />
      <small>{tls ?? email.noTls}</small>
    </>
  );
}
