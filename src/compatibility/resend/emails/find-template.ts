/** Finds templates for emails. A key that only sends may not read templates, but what it sends is made of them anyway. */
import { findTemplate } from '../../../templates/store.ts';
import { callerOf } from '../../../tenants/authenticate.ts';
import type { Access, Given } from '../call.ts';
import { findTemplateId } from '../templates/alias.ts';
import { OPEN_SUBJECT } from '../templates/fields.ts';

/** A template of an email. Its subject is undefined when each email gives its own. */
export type EmailTemplate = { id: string; subject: string | undefined };

/** Returns what the translation of the emails of one request needs. Each template is read once. */
export function translationFor({ now }: Given, access: Access) {
  const templates = new Map<string, Promise<EmailTemplate | undefined>>();
  return {
    now,
    findTemplate(idOrAlias: string) {
      const template = templates.get(idOrAlias) ?? find(access, idOrAlias);
      templates.set(idOrAlias, template);
      return template;
    },
  };
}

async function find(access: Access, idOrAlias: string): Promise<EmailTemplate | undefined> {
  const id = await findTemplateId(access, idOrAlias);
  const { db, request } = access;
  const row = id === undefined ? undefined : await findTemplate(db.read, callerOf(request).tenantId, id);
  return row && { id: row.id, subject: row.subject === OPEN_SUBJECT ? undefined : row.subject };
}
