/** The browsers that are logged in as somebody. The page has the action `end`. */
import type { SessionRow } from '../../db/people-tables.ts';
import type { BaseContext } from '../page.ts';
import { Time } from './elements.tsx';
import { ActionButton } from './forms.tsx';
import { Table } from './lists.tsx';

/** Number of sessions that are shown: the newest. */
const SHOWN = 20;

type SessionProps = {
  context: BaseContext & { session: SessionRow };
  sessions: readonly SessionRow[];
};

/** The table, in which each session but the present one can be ended. Those before the present password of a mailbox have ended. */
export function SessionTable({ context, sessions }: SessionProps) {
  const { session, texts } = context;
  const { account, frame } = texts;
  const valid = sessions.filter(({ passwordDigest }) => passwordDigest === session.passwordDigest);
  const others = valid.filter(({ id }) => id !== session.id);
  const rows = [...valid.filter(({ id }) => id === session.id), ...others];
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">{account.sessions}</h2>
      <Table
        context={context}
        caption={account.sessionsCaption}
        rows={rows.slice(0, SHOWN)}
        keyOf={({ id }) => id}
        columns={[
          { label: account.since, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
          { label: account.lastUsed, cell: ({ lastUsedAt }) => <Time context={context} at={lastUsedAt} /> },
          { label: account.from, cell: ({ address }) => address },
          { label: account.browser, cell: ({ userAgent }) => <bdi>{userAgent}</bdi> },
          {
            label: frame.actions,
            cell: ({ id }) =>
              id === session.id ? (
                account.thisSession
              ) : (
                <ActionButton context={context} action="end" submit={account.end} about={{ id }} />
              ),
          },
        ]}
      />
      {rows.length > SHOWN && <p class="muted">{account.newestSessions(context.formats.number(SHOWN))}</p>}
    </section>
  );
}
