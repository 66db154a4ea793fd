/**
 * The audience of all contacts: Resend's contacts belong to no audience, and ours always do. It is an ordinary audience of the tenant with a
 * reserved name, made when the first contact or segment is.
 */
import { ensureAudience, findAudienceByName } from '../../../audiences/store.ts';
import { notFound } from '../../../system/errors.ts';
import { callerOf } from '../../../tenants/authenticate.ts';
import type { Access, Given } from '../call.ts';

/** Name of the audience. Once it has another name, or is deleted, a new one is made. */
const NAME = 'Resend contacts';

/** Returns the id of the audience, or undefined while there is none. */
export async function findContactsAudience({ db, request }: Access): Promise<string | undefined> {
  return (await findAudienceByName(db.read, callerOf(request).tenantId, NAME))?.id;
}

/**
 * Returns the id of the audience.
 * @throws AppError not_found while there is none, and therefore no contact
 */
export async function requireContactsAudience(access: Access): Promise<string> {
  const id = await findContactsAudience(access);
  if (id === undefined) throw notFound('Contact');
  return id;
}

/**
 * Returns the id of the audience, and makes it when there is none.
 * @throws AppError validation_error when the tenant has the maximum number of audiences
 */
export async function ensureContactsAudience(access: Access, { now }: Given): Promise<string> {
  const { tenantId } = callerOf(access.request);
  const found = await findContactsAudience(access);
  return found ?? (await access.db.commit(ensureAudience, { tenantId, name: NAME, now })).id;
}
