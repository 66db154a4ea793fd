/** Aliases of templates. The name of a template serves as its alias, and names of ours may repeat, so that not every name is one. */
import { AppError, notFound } from '../../../system/errors.ts';
import { isId } from '../../../system/ids.ts';
import { listTemplates } from '../../../templates/store.ts';
import { callerOf } from '../../../tenants/authenticate.ts';
import type { Access } from '../call.ts';

/**
 * Returns the id of the template that has an alias; an id is returned as it is.
 * @throws AppError invalid_state when several templates have the name
 */
export async function findTemplateId(access: Access, idOrAlias: string): Promise<string | undefined> {
  if (isId('tpl', idOrAlias)) return idOrAlias;
  const [template, other] = await listByName(access, idOrAlias);
  if (other)
    throw new AppError(
      'invalid_state',
      'Several templates have this name, so that it is no alias; use an id',
    );
  return template?.id;
}

/**
 * Returns the id of the template that has an id or an alias.
 * @throws AppError not_found, invalid_state
 */
export async function requireTemplateId(access: Access, idOrAlias: string): Promise<string> {
  const id = await findTemplateId(access, idOrAlias);
  if (id === undefined) throw notFound('Template');
  return id;
}

/**
 * Checks that no template but the one with `ownId` has the alias.
 * @throws AppError already_exists
 */
export async function requireFreeAlias(access: Access, alias: unknown, ownId?: string): Promise<void> {
  if (typeof alias !== 'string') return;
  const holder = (await listByName(access, alias)).find(({ id }) => id !== ownId);
  if (!holder) return;
  throw new AppError('already_exists', 'A template has this alias already', { details: { id: holder.id } });
}

/** Two templates are enough to know that a name is no alias. */
async function listByName({ db, request }: Access, name: string) {
  const { items } = await listTemplates(db.read, callerOf(request).tenantId, { name, limit: 2 });
  return items;
}
