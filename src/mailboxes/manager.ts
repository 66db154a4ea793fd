/**
 * Decides which mailboxes an API key sees and changes. A key of one domain sees the mailboxes of that domain, and changes none (the table in
 * tenants/domain-reach.ts): it could give itself a password, which sends from all addresses of a mailbox. A test key changes the mailboxes that
 * have nothing to do with other domains than the sandbox domain.
 */
import type { FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { sandboxDomain } from '../domains/name.ts';
import { requireChangeable } from '../domains/test-keys.ts';
import { parseMailbox } from '../mail/address.ts';
import { callerOf, reachOf } from '../tenants/authenticate.ts';
import { listDomainsOfMailbox } from './addresses/store.ts';
import { getMailbox, getMailboxWithin } from './store.ts';

type Named = { tenantId: MailboxRow['tenantId']; id: MailboxRow['id'] };

/**
 * Returns the mailbox that a request reads, or that it reads something of.
 * @throws AppError not_found
 */
export async function readableMailboxOf(
  { db }: Pick<App, 'db'>,
  request: FastifyRequest,
  id: string,
): Promise<MailboxRow> {
  return getMailboxWithin(db.read, reachOf(request), id);
}

/**
 * Returns the mailbox that a request changes, or that it changes something of. A test key may change none that has an address at another
 * domain than the sandbox domain, or that is a member of a shared mailbox with one: its password would open that mail.
 *
 * @throws AppError not_found, restricted_api_key
 */
export async function changeableMailboxOf(
  { db, config }: App,
  request: FastifyRequest,
  wanted: string,
): Promise<Named> {
  const { tenantId, mode } = callerOf(request);
  const { id } = await getMailbox(db.read, tenantId, wanted);
  const sandbox = sandboxDomain(config);
  for (const domain of mode === 'test' ? await listDomainsOfMailbox(db.read, id) : [])
    requireChangeable(mode, { domain, sandbox });
  return { tenantId, id };
}

/**
 * Checks that the key of a request may give these addresses to a mailbox. Text that is no address is refused later.
 * @throws AppError restricted_api_key
 */
export function requireGivableAddresses(
  { config }: Pick<App, 'config'>,
  request: FastifyRequest,
  { address, aliases = [] }: { address?: string | undefined; aliases?: readonly string[] | undefined },
): void {
  const { mode } = callerOf(request);
  const named = [
    ...(address === undefined ? [] : [{ param: 'address', text: address }]),
    ...aliases.map((text, index) => ({ param: `aliases[${index}]`, text })),
  ];
  for (const { param, text } of named) {
    const domain = parseMailbox(text)?.domain;
    if (domain !== undefined) requireChangeable(mode, { domain, sandbox: sandboxDomain(config), param });
  }
}
