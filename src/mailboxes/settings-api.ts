/** `/v1/mailboxes/{id}/settings`: what the owner of a mailbox enters in a mail program that does not find it out by itself. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { paramsOf } from '../http/json/resource.ts';
import { mailSettings } from './discovery/settings.ts';
import { readableMailboxOf } from './manager.ts';

const PATH = '/mailboxes/:id/settings';

export const settingsSchema = Type.Object(
  {
    username: Type.String({
      description: 'User name for all services, which is the address of the mailbox.',
    }),
    host: Type.String({ description: 'Host of all services.' }),
    services: Type.Array(
      Type.Object({
        protocol: Type.Enum(['imap', 'pop3', 'smtp', 'sieve']),
        security: Type.Enum(['tls', 'starttls'], {
          description: '`tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it.',
        }),
        port: Type.Integer(),
      }),
      { description: 'Those that a mail program should prefer come first.' },
    ),
    profileUrl: Type.String({
      description: 'Link to the profile by which Apple devices set up the account.',
    }),
  },
  {
    title: 'MailSettings',
    examples: [
      {
        username: 'ann@shop.example',
        host: 'mail.shop.example',
        services: [
          { protocol: 'imap', security: 'tls', port: 993 },
          { protocol: 'smtp', security: 'tls', port: 465 },
        ],
        profileUrl: 'https://mail.shop.example/profile.mobileconfig?emailaddress=ann%40shop.example',
      },
    ],
  },
);

/** Registers the route. */
export function registerMailboxSettings(server: FastifyInstance, app: App): void {
  server.get<{ Params: { id: string } }>(
    PATH,
    {
      schema: {
        operationId: 'getMailboxSettings',
        summary: 'Retrieve the settings for mail programs',
        description: 'Returns what the owner of the mailbox enters in a mail program. It has no password.',
        tags: ['Mailboxes'],
        ...paramsOf(PATH),
        response: { 200: settingsSchema },
      },
    },
    async (request) => mailSettings(app.config, await readableMailboxOf(app, request, request.params.id)),
  );
}
