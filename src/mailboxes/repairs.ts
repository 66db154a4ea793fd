/** Registers the routes over which the operator checks and repairs mailboxes. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { CheckReport } from '../accounts/check.ts';
import type { RepairReport } from '../accounts/repair.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { AppError } from '../system/errors.ts';
import { getNamedMailbox } from './named-mailbox.ts';

export type MailboxRepairs = {
  /**
   * Checks a part of a mailbox while it is used: the first one, or the one behind `after` (`CheckReport.next`).
   * @throws AppError unavailable when its database cannot be opened
   */
  check(mailbox: MailboxRow, after: number): Promise<CheckReport>;
  /** Ends the sessions of a mailbox, repairs it, and lets its owner log in again. */
  repair(mailbox: MailboxRow): Promise<RepairReport>;
};

const partQuery = Type.Object({ after: Type.Integer({ minimum: 0 }) });

/** The id or the address of a mailbox. */
type ByName = { Params: { name: string } };

/** Registers `POST /mailboxes/:name/check` and `POST /mailboxes/:name/repair`. */
export function registerRepairAdmin(
  server: FastifyInstance,
  app: Pick<App, 'db'> & { mailboxRepairs: MailboxRepairs | undefined },
): void {
  const find = async (name: string) => ({
    mailbox: await getNamedMailbox(app, name),
    repairs: requireRepairs(app.mailboxRepairs),
  });
  server.post<ByName & { Querystring: Static<typeof partQuery> }>(
    '/mailboxes/:name/check',
    { schema: { querystring: partQuery } },
    async ({ params, query: { after } }) => {
      const found = await find(params.name);
      return found.repairs.check(found.mailbox, after);
    },
  );
  server.post<ByName>('/mailboxes/:name/repair', async ({ params }) => {
    const found = await find(params.name);
    return found.repairs.repair(found.mailbox);
  });
}

function requireRepairs(repairs: MailboxRepairs | undefined): MailboxRepairs {
  if (!repairs) throw new AppError('unavailable', 'The daemon does not run; start it first');
  return repairs;
}
