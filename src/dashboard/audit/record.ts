/** Makes the line of the audit log for an action of a page. */
import type { AuditRow } from '../../db/people-tables.ts';
import type { Form } from '../../http/pages/form-body.ts';
import { newId } from '../../system/ids.ts';
import { ACTION_FIELD, ONCE_FIELD } from '../frame/forms.tsx';
import type { Area, Contexts, DashboardApp, PageDefinition } from '../page.ts';

/** Maximum length of a value that is kept. Contents of mail are longer, and do not belong into the log. */
const MAX_VALUE_CHARACTERS = 200;
/** Matches the names of fields whose values are secrets. */
const SECRET = /password|secret|token|code|credential/i;

type Acted = { page: PageDefinition; name: string; context: Contexts[Area]; form: Form };

/** Returns the line. Secrets are left out, and long values are cut. */
export function auditOf(
  { clock }: Pick<DashboardApp, 'clock'>,
  { page, name, context, form }: Acted,
): AuditRow {
  const now = clock.now();
  const { tenant, mode, ...params } = context.params;
  return {
    id: newId('adt', now),
    at: now,
    tenantId: 'tenant' in context ? context.tenant.tenantId : null,
    personId: 'person' in context ? context.person.id : null,
    actor: actorOf(context),
    address: context.clientAddress,
    action: `${page.area}${page.path} ${name}`,
    target: Object.values(params).join(' '),
    mode: 'mode' in context ? context.mode : null,
    details: JSON.stringify(Object.fromEntries(detailsOf(form))),
  };
}

function actorOf(context: Contexts[Area]): string {
  if ('person' in context) return `${context.person.name} <${context.person.email}>`;
  return 'mailbox' in context ? context.mailbox.address : '';
}

function detailsOf(form: Form): [string, string][] {
  return form.names
    .filter((name) => name !== ACTION_FIELD && name !== ONCE_FIELD && !SECRET.test(name))
    .map((name) => {
      const text = form.values(name).join(', ');
      return [name, text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text];
    });
}
