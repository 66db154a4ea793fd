/** Finds the subjects of templates. A key that only sends may not read templates, but what it sends has their subjects anyway. */
import { isId } from '../../../system/ids.ts';
import { findTemplate } from '../../../templates/store.ts';
import { callerOf } from '../../../tenants/authenticate.ts';
import type { Access, Given } from '../call.ts';

/** Returns what the translation of the emails of one request needs. Each template is read once. */
export function translationFor({ now }: Given, { request, db }: Access) {
  const subjects = new Map<string, Promise<string | undefined>>();
  const find = async (id: string) => {
    if (!isId('tpl', id)) return undefined;
    return (await findTemplate(db.read, callerOf(request).tenantId, id))?.subject;
  };
  return {
    now,
    findSubject(id: string) {
      const subject = subjects.get(id) ?? find(id);
      subjects.set(id, subject);
      return subject;
    },
  };
}
