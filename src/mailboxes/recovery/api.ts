/**
 * `/v1/mailboxes/{id}/recovery-address`: the address elsewhere to which the owner of a mailbox gets a link for a new password. It is seen and
 * removed here. The owner alone sets it, in My mailbox, because it opens the mailbox, and it counts once its reader has confirmed it.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import type { MailboxRecoveryRow } from '../../db/mailbox-tables.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { isoTime } from '../../system/clock.ts';
import { changeableMailboxOf, readableMailboxOf } from '../manager.ts';
import { deleteRecovery, findRecovery } from './store.ts';

const PATH = '/mailboxes/:id/recovery-address';

export const recoveryAddressSchema = Type.Object(
  {
    address: Type.Union([Type.String(), Type.Null()], { description: 'The address; null when none is set.' }),
    confirmedAt: Type.Union([Type.String(), Type.Null()], {
      description:
        'Time at which its reader has confirmed it; null before, when it gets no links for a new password.',
    }),
    createdAt: Type.Union([Type.String(), Type.Null()], {
      description: 'Time at which the owner of the mailbox has set it; null when none is set.',
    }),
  },
  {
    title: 'RecoveryAddress',
    examples: [
      {
        address: 'ann@elsewhere.example',
        confirmedAt: '2026-03-02T07:52:00.000Z',
        createdAt: '2026-03-02T07:45:00.000Z',
      },
    ],
  },
);

/** Registers the routes. Keys that only read do not see the address, which is a private one of a person. */
export function registerRecoveryAddress(server: FastifyInstance, app: App): void {
  const { db } = app;
  const common = { tags: ['Mailboxes'], ...paramsOf(PATH) };
  server.get<{ Params: { id: string } }>(
    PATH,
    {
      config: { needs: 'write' },
      schema: {
        ...common,
        operationId: 'getRecoveryAddress',
        summary: 'Retrieve the recovery address of a mailbox',
        description:
          'Returns the address elsewhere to which the owner of the mailbox gets a link for a new password. The owner sets it in the dashboard.',
        response: { 200: recoveryAddressSchema },
      },
    },
    async (request) => {
      const { id } = await readableMailboxOf(app, request, request.params.id);
      return showRecovery(await findRecovery(db.read, id));
    },
  );
  server.delete<{ Params: { id: string } }>(
    PATH,
    {
      config: { refuses: ['restricted_api_key'] },
      schema: {
        ...common,
        operationId: 'deleteRecoveryAddress',
        summary: 'Remove the recovery address of a mailbox',
        description:
          'Removes the address, if there is one. A link that was mailed there does not work any more. `passwordRecovery: false` of the mailbox forbids another one.',
        response: { 204: Type.Null({ description: 'Removed' }) },
      },
    },
    async (request, reply) => {
      const { id: mailboxId } = await changeableMailboxOf(app, request, request.params.id);
      await db.commit(deleteRecovery, { mailboxId });
      return reply.code(204).send();
    },
  );
}

function showRecovery(row: MailboxRecoveryRow | undefined): Static<typeof recoveryAddressSchema> {
  if (!row) return { address: null, confirmedAt: null, createdAt: null };
  const { address, confirmedAt, createdAt } = row;
  return {
    address,
    confirmedAt: confirmedAt === null ? null : isoTime(confirmedAt),
    createdAt: isoTime(createdAt),
  };
}
