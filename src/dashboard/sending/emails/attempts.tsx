/** Every attempt to deliver an email, with the SMTP sessions of those that did not deliver. */
import type { Static } from 'typebox';
import type { attemptsSchema } from '../../../emails/attempts-api.ts';
import { path } from '../../../http/json/calls.ts';
import { Foreign, Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { Table } from '../../frame/lists.tsx';
import { SmtpSession } from '../../frame/smtp-session.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { emailPath } from './facts.tsx';

type Attempts = Static<typeof attemptsSchema>;

/** Number of the newest attempts on the page, of which each may have a reply of 1,000 characters. */
const SHOWN_ATTEMPTS = 40;

const TONES: Record<Attempts['attempts'][number]['outcome'], Tone> = {
  delivered: 'good',
  deferred: 'warning',
  bounced: 'bad',
  held: 'warning',
  recovered: 'neutral',
};

export const emailAttemptsPage = definePage({
  area: 'tenant',
  path: '/emails/:id/attempts',
  async show(context) {
    const { api, texts, params } = context;
    const { id = '' } = params;
    const { attempts, conversations } = await api.get<Attempts>(path`/emails/${id}/attempts`);
    const newest = attempts.slice(-SHOWN_ATTEMPTS).reverse();
    return {
      title: texts.email.attemptsTitle,
      body: (
        <>
          <Heading title={texts.email.attemptsTitle}>
            <a href={emailPath(context, id)}>{texts.email.back}</a>
          </Heading>
          <AttemptTable context={context} attempts={newest} />
          {attempts.length > newest.length && (
            <p class="muted">{texts.email.newestAttempts(context.formats.number(newest.length))}</p>
          )}
          <h2>{texts.email.sessions}</h2>
          <p class="muted">{texts.email.sessionsHelp}</p>
          {conversations.length === 0 && <p class="empty">{texts.email.noSessions}</p>}
          {conversations.toReversed().map(({ at, site, lines }) => (
            <section key={`${at} ${site}`}>
              <h3>
                <Time context={context} at={at} /> <Foreign text={site} />
              </h3>
              <SmtpSession
                label={`${texts.email.sessions}: ${site}, ${context.formats.exactTime(at)}`}
                lines={lines}
              />
            </section>
          ))}
        </>
      ),
    };
  },
});

function AttemptTable({ context, attempts }: { context: TenantContext; attempts: Attempts['attempts'] }) {
  const { email, frame } = context.texts;
  const { number } = context.formats;
  return (
    <Table
      context={context}
      caption={email.attemptsTitle}
      rows={attempts}
      keyOf={({ at, to, durationMs }) => `${at} ${to} ${durationMs}`}
      empty={email.noAttempts}
      columns={[
        { label: email.at, cell: ({ at }) => <Time context={context} at={at} /> },
        { label: email.recipient, cell: ({ to }) => <Foreign text={to} /> },
        {
          label: email.outcome,
          cell: ({ outcome }) => <Status tone={TONES[outcome]}>{email.outcomes[outcome]}</Status>,
        },
        { label: email.phase, cell: ({ phase }) => <code>{phase}</code> },
        {
          label: email.server,
          cell: ({ phase, mx, address, tls }) =>
            phase === 'simulated' ? (
              email.simulator
            ) : (
              <>
                <Foreign text={mx ?? frame.none} />
                {address !== null && <div>{address}</div>}
                {mx !== null && <small>{tls ?? email.noTls}</small>}
              </>
            ),
        },
        { label: email.duration, isNumeric: true, cell: ({ durationMs }) => `${number(durationMs)} ms` },
        { label: email.reply, cell: ({ reply }) => <Foreign text={reply} /> },
      ]}
    />
  );
}
