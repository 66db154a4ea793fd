/** Registers `GET /emails/{id}/attempts`, which shows every attempt to deliver an email, and what was said when one did not deliver. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { paramsOf } from '../http/json/resource.ts';
import { readHistory } from '../queue/history.ts';
import { listRecipients } from '../queue/store.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { getEmailHead } from './change.ts';

const PATH = '/emails/:id/attempts';

const time = (description: string) => Type.String({ description: `${description} ISO 8601, UTC.` });
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const attemptSchema = Type.Object({
  at: time('Time at which the attempt ended.'),
  to: Type.String({ description: 'Recipient of the attempt.' }),
  outcome: Type.Enum(['delivered', 'deferred', 'bounced', 'held', 'recovered'], {
    description: '`recovered`: the daemon ended during the attempt, and the recipient was queued again.',
  }),
  phase: Type.String({ description: 'Step at which the attempt ended, such as `dns`, `connect` or `rcpt`.' }),
  mx: textOrNull('Name of the server.'),
  address: textOrNull('IP address of the server.'),
  tls: textOrNull('Version of TLS; null for a connection in plain text, or none.'),
  durationMs: Type.Integer({ description: 'Time that the attempt took, in milliseconds.' }),
  reply: textOrNull('Reply of the server, or a description of the failure when there was none.'),
});

const lineSchema = Type.Object({
  ms: Type.Integer({ description: 'Milliseconds since the connection was begun.' }),
  direction: Type.Enum(['sent', 'received', 'note'], {
    description: '`sent` to the server, `received` from it, or a `note` about the connection.',
  }),
  text: Type.String(),
});

const conversationSchema = Type.Object({
  at: time('The `at` of the attempts that the conversation explains.'),
  site: Type.String({ description: 'Server or group of servers that the email was sent to.' }),
  lines: Type.Array(lineSchema),
});

const EXAMPLE_AT = '2026-03-01T09:00:02.000Z';

export const attemptsSchema = Type.Object(
  {
    attempts: Type.Array(attemptSchema, {
      description:
        'The newest 1,000 attempts, the oldest of them first. They are kept for as long as events.',
    }),
    conversations: Type.Array(conversationSchema, {
      description:
        'SMTP sessions of attempts that did not deliver: commands and replies without content, for seven days.',
    }),
  },
  {
    title: 'EmailAttempts',
    examples: [
      {
        attempts: [
          {
            at: EXAMPLE_AT,
            to: 'ada@customer.example',
            outcome: 'bounced',
            phase: 'rcpt',
            mx: 'mx.customer.example',
            address: '192.0.2.7',
            tls: 'TLSv1.3',
            durationMs: 412,
            reply: '550 5.1.1 No such mailbox',
          },
        ],
        conversations: [
          {
            at: EXAMPLE_AT,
            site: 'mx.customer.example',
            lines: [
              { ms: 388, direction: 'sent', text: 'RCPT TO:<ada@customer.example>' },
              { ms: 411, direction: 'received', text: '550 5.1.1 No such mailbox' },
            ],
          },
        ],
      },
    ],
  },
);

/** Registers the route. */
export function registerAttemptsApi(server: FastifyInstance, app: Pick<App, 'db' | 'targets'>): void {
  server.get<{ Params: { id: string } }>(
    PATH,
    {
      config: { needs: 'emails' },
      schema: {
        operationId: 'getEmailAttempts',
        summary: 'List the delivery attempts of an email',
        description:
          'Returns every attempt with its outcome and the reply of the server. For a week, it also returns the SMTP sessions of attempts that did not deliver.',
        tags: ['Emails'],
        ...paramsOf(PATH),
        response: { 200: attemptsSchema },
      },
    },
    async (request) => {
      const { id, tenantId } = await getEmailHead(app, callerOf(request), request.params.id);
      const recipients = await listRecipients(app.db.read, id);
      return withoutPrivate(app, await readHistory(app.db.read, { id, tenantId, recipients }));
    },
  );
}

type History = Awaited<ReturnType<typeof readHistory>>;

/**
 * Leaves out the servers of the operator's own network, such as a relay with a private address: their names and sessions say how that
 * network is built. What a server replied stays, because it explains the outcome.
 */
function withoutPrivate({ targets }: Pick<App, 'targets'>, { attempts, conversations }: History): History {
  const isPrivate = ({ address }: History['attempts'][number]) =>
    address !== null && !targets.allows(address);
  const hidden = new Set(attempts.filter(isPrivate).map(({ at }) => at));
  return {
    attempts: attempts.map((attempt) =>
      isPrivate(attempt) ? { ...attempt, mx: null, address: null, tls: null } : attempt,
    ),
    conversations: conversations.filter(({ at }) => !hidden.has(at)),
  };
}
