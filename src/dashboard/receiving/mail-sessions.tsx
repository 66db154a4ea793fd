/**
 * The mail programs that are logged in to a mailbox, which can be disconnected. The owner of the mailbox and the administrators of its tenant
 * use the same.
 */
import type { Static } from 'typebox';
import type { Calls } from '../../http/json/calls.ts';
import type { sessionsSchema } from '../../mailboxes/sessions-api.ts';
import { Foreign, Time } from '../frame/elements.tsx';
import { ActionButton } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { type BaseContext, fieldOf } from '../page.ts';

type Sessions = Static<typeof sessionsSchema>;
type Session = Sessions['data'][number];

type Context = BaseContext & { api: Calls };

/** Where the sessions are: the path of the mailbox in the API, the page that shows them, and where the app passwords are. */
type Place = { base: string; page: string; appPasswords: string; mayChange?: boolean };

/** Returns the section with the table. */
export async function mailSessionSection(context: Context, place: Place) {
  const { base, page, appPasswords, mayChange = true } = place;
  const { texts, api } = context;
  const { mailSessions, mailSettings, frame } = texts;
  const { data } = await api.get<Sessions>(`${base}/sessions`);
  const end = {
    label: frame.actions,
    cell: ({ id, protocol, address }: Session) => (
      <ActionButton
        context={context}
        action="disconnect"
        submit={mailSessions.end}
        label={`${mailSessions.end}: ${mailSettings.protocols[protocol]}, ${address}`}
        about={{ session: id }}
      />
    ),
  };
  return (
    <section aria-labelledby="mail-sessions">
      <h2 id="mail-sessions">{mailSessions.title}</h2>
      <p>
        {mailSessions.introduction} <a href={appPasswords}>{texts.appPasswords.title}</a>
      </p>
      <Table
        context={context}
        caption={mailSessions.caption}
        rows={data}
        keyOf={({ id }) => id}
        empty={mailSessions.none}
        columns={[
          { label: mailSessions.service, cell: ({ protocol }) => mailSettings.protocols[protocol] },
          {
            label: mailSessions.program,
            cell: ({ client }) => (client === null ? mailSessions.unknown : <Foreign text={client} />),
          },
          { label: mailSessions.address, cell: ({ address }) => address },
          {
            label: mailSessions.password,
            cell: ({ appPassword }) =>
              appPassword ? <Foreign text={appPassword.name} /> : mailSessions.ownPassword,
          },
          { label: mailSessions.since, cell: (row) => <Time context={context} at={row.startedAt} /> },
          ...(mayChange ? [end] : []),
        ]}
      />
      <div class="buttons">
        {mayChange && data.length > 1 && (
          <ActionButton context={context} action="disconnectAll" submit={mailSessions.endAll} />
        )}
        <a href={`${page}#mail-sessions`}>{mailSessions.reload}</a>
      </div>
    </section>
  );
}

/** Returns the actions of the section. `placeOf` says where the sessions of the page are. */
export function mailSessionActions<Of extends Context>(placeOf: (context: Of) => Place) {
  const end = (context: Of, body: { session?: string }) =>
    context.api.post(`${placeOf(context).base}/sessions/end`, body);
  return {
    disconnect: {
      logs: ['session'],
      async run(context: Of, form: Parameters<typeof fieldOf>[0]) {
        await end(context, { session: fieldOf(form, 'session') });
        return { to: placeOf(context).page, said: 'disconnected' as const };
      },
    },
    disconnectAll: {
      async run(context: Of) {
        await end(context, {});
        return { to: placeOf(context).page, said: 'disconnected' as const };
      },
    },
  };
}
