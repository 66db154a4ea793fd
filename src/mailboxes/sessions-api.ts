/** `/v1/mailboxes/{id}/sessions`: the mail programs that are logged in to a mailbox now, and how they are disconnected. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { MAX_LISTED_SESSIONS, type MailSession } from '../accounts/mail-session.ts';
import { PROTOCOLS } from '../accounts/protocols.ts';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { AppPasswordRow } from '../db/mailbox-tables.ts';
import { paramsOf } from '../http/json/resource.ts';
import { isoTime } from '../system/clock.ts';
import { listAppPasswordsOf } from './app-passwords/store.ts';
import { changeableMailboxOf, readableMailboxOf } from './manager.ts';

const PATH = '/mailboxes/:id/sessions';

/** Maximum length of the id of a session: more than any has. */
const MAX_ID_CHARACTERS = 100;

const sessionSchema = Type.Object({
  id: Type.String({ description: 'Identifies the session until it ends.' }),
  protocol: Type.Enum([...PROTOCOLS]),
  address: Type.String({ description: 'IP address of the mail program.' }),
  client: Type.Union([Type.String(), Type.Null()], {
    description:
      'Name and version that the mail program has given by the command ID of IMAP, which nobody verifies; null when it has given none.',
  }),
  appPassword: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()], {
    description: 'The app password of the login; null for the password of the mailbox.',
  }),
  startedAt: Type.String({ description: 'Time of the login.' }),
});

export const sessionsSchema = Type.Object(
  {
    data: Type.Array(sessionSchema, {
      description: `The sessions, the newest first, at most ${MAX_LISTED_SESSIONS}.`,
    }),
  },
  {
    title: 'MailboxSessions',
    examples: [
      {
        data: [
          {
            id: 'k3n8vq7wz2mdx9c4',
            protocol: 'imap',
            address: '192.0.2.7',
            client: 'Thunderbird 140.0',
            appPassword: { id: 'apw_01khq3z5vgxw1r8t6n2m4c9b7d', name: 'Laptop' },
            startedAt: '2026-03-02T07:45:00.000Z',
          },
        ],
      },
    ],
  },
);

const endBodySchema = Type.Object(
  {
    session: Type.Optional(
      Type.String({
        maxLength: MAX_ID_CHARACTERS,
        description: 'The session to end; without it, all sessions of the mailbox end.',
      }),
    ),
  },
  { examples: [{ session: 'k3n8vq7wz2mdx9c4' }] },
);

const endedSchema = Type.Object(
  {
    ended: Type.Integer({
      description: 'Number of the sessions that were ended; 0 when the session had ended already.',
    }),
  },
  { title: 'EndedSessions', examples: [{ ended: 1 }] },
);

/** Registers the routes. */
export function registerMailboxSessions(
  server: FastifyInstance,
  app: App & { accounts: RunningAccounts },
): void {
  const common = { tags: ['Mailboxes'], ...paramsOf(PATH) };
  server.get<{ Params: { id: string } }>(
    PATH,
    {
      schema: {
        ...common,
        operationId: 'listMailboxSessions',
        summary: 'List the sessions of a mailbox',
        description: 'Returns the mail programs that are logged in to the mailbox at the moment.',
        response: { 200: sessionsSchema },
      },
    },
    async (request) => {
      const { id } = await readableMailboxOf(app, request, request.params.id);
      const sessions = await app.accounts.listSessions(id);
      const passwords = new Map(
        (await listAppPasswordsOf(app.db.read, id)).map((row) => [row.id, row] as const),
      );
      return { data: sessions.map((session) => showSession(session, passwords)) };
    },
  );
  server.post<{ Params: { id: string }; Body: Static<typeof endBodySchema> }>(
    `${PATH}/end`,
    {
      config: { refuses: ['restricted_api_key'] },
      schema: {
        ...common,
        operationId: 'endMailboxSessions',
        summary: 'End sessions of a mailbox',
        description:
          'Disconnects one mail program, or all. A program that knows a password connects again: revoke its app password, or change the ' +
          'password of the mailbox, to keep it out.',
        body: endBodySchema,
        response: { 200: endedSchema },
      },
    },
    async (request) => {
      const { id } = await changeableMailboxOf(app, request, request.params.id);
      return { ended: await app.accounts.disconnect(id, request.body.session) };
    },
  );
}

function showSession(
  { id, protocol, address, client, credential, beganAt }: MailSession,
  passwords: ReadonlyMap<string, AppPasswordRow>,
): Static<typeof sessionSchema> {
  const password = passwords.get(credential);
  return {
    id,
    protocol,
    address,
    client,
    appPassword: password ? { id: password.id, name: password.name } : null,
    startedAt: isoTime(beganAt),
  };
}
