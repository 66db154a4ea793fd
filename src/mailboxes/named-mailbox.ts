/** Finds the mailbox that an operator names by its id or its address. */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { invalid, notFound } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import { readMailboxAddress } from './address.ts';
import { findMailboxByAddress, findMailboxById } from './store.ts';

/**
 * Returns the mailbox of any tenant with this id or address.
 * @throws AppError not_found; validation_error for text that is neither
 */
export async function getNamedMailbox({ db }: Pick<App, 'db'>, name: string): Promise<MailboxRow> {
  const found = isId('mbx', name)
    ? await findMailboxById(db.read, name)
    : await findMailboxByAddress(db.read, readName(name));
  if (!found) throw notFound('Mailbox');
  return found;
}

/** Returns the address that the operator has written in place of an id. */
function readName(name: string): string {
  if (name.includes('@')) return readMailboxAddress('address', name).address;
  throw invalid(
    'address',
    `"${name}" is neither the id nor the address of a mailbox; \`postrider mailbox list\` shows both`,
  );
}
