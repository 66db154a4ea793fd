/** Makes the line of the audit log for an action of a page. */
import type { AuditRow, PersonRow } from '../../db/people-tables.ts';
import type { Form } from '../../http/pages/form-body.ts';
import { newId } from '../../system/ids.ts';
import type { Acted, Area, Contexts, DashboardApp, PageDefinition } from '../page.ts';
import { listMemberships, soleTenant } from '../people/memberships-store.ts';
import type { Values } from './before.tsx';
import { recordAudit } from './store.ts';

/** Maximum length of a value that is kept. */
const MAX_VALUE_CHARACTERS = 200;
/** Maximum size of all values of a line. Our own limit: people make many lines, which are kept for long. */
const MAX_DETAILS_BYTES = 1_000;

type Act = {
  page: Pick<PageDefinition, 'area' | 'path'>;
  /** Name of the action. */
  name: string;
  context: Contexts[Area];
  acted?: Acted | undefined;
  /** The fields of the form that are logged. */
  logs?: readonly string[] | undefined;
  form?: Form;
  /** Values that the page has shown before. Those of logged fields that were different are kept. */
  before?: Values;
};

/** Writes the line. Strangers have none: an action before a login is logged once it has found out who acts. */
export async function recordAct(app: Pick<DashboardApp, 'clock' | 'db'>, act: Act): Promise<void> {
  const who = await whoActs(app, act);
  if (!who) return;
  const { page, name, context, logs = [], form, before = {} } = act;
  const now = app.clock.now();
  await app.db.commit(recordAudit, {
    id: newId('adt', now),
    at: now,
    ...who,
    address: context.clientAddress,
    action: `${page.area}${page.path} ${name}`,
    target: targetOf(context),
    mode: 'mode' in context ? context.mode : null,
    details: form ? detailsOf(form, logs, before) : '{}',
    times: 1,
  });
}

type Who = Pick<AuditRow, 'personId' | 'mailboxId' | 'actor' | 'tenantId'>;

/** Returns who acts, and the tenant whose owners see it. */
async function whoActs({ db }: Pick<DashboardApp, 'db'>, { context, acted }: Act): Promise<Who | undefined> {
  const mailbox = acted?.mailbox ?? ('mailbox' in context ? context.mailbox : undefined);
  if (mailbox) {
    const { id: mailboxId, tenantId, address: actor } = mailbox;
    return { personId: null, mailboxId, tenantId, actor };
  }
  const person = acted?.person ?? ('person' in context ? context.person : undefined);
  if (!person) return undefined;
  const tenantId = acted?.tenantId === undefined ? await tenantOf(db, context, person) : acted.tenantId;
  return { personId: person.id, mailboxId: null, tenantId, actor: `${person.name} <${person.email}>` };
}

/** Returns the tenant of a page. What a person does with its account is seen by the owners of the tenant that it belongs to alone. */
async function tenantOf(
  db: DashboardApp['db'],
  context: Contexts[Area],
  person: PersonRow,
): Promise<AuditRow['tenantId']> {
  if ('tenant' in context) return context.tenant.tenantId;
  if ('operator' in context) return null;
  // The action may have changed the memberships, so those before it count.
  const memberships =
    'memberships' in context ? context.memberships : await listMemberships(db.read, person.id);
  return soleTenant(person, memberships);
}

/** Returns the parameters of the page's path. Those of pages before the login are secrets. */
function targetOf(context: Contexts[Area]): string {
  if (!('session' in context)) return '';
  const { tenant, mode, ...params } = context.params;
  return Object.values(params).join(' ');
}

/** Returns the fields that are logged as JSON, with what they were before. Long values are cut, and what does not fit is left out. */
function detailsOf(form: Form, logs: readonly string[], before: Values): string {
  const after = Object.fromEntries(logs.map((name) => [name, form.values(name).join(', ')]));
  const earlier = logs.map((name) => [name, before[name] ?? ''] as const);
  const changed = earlier.filter(([name, value]) => value !== after[name]);
  const details = addFitting({}, Object.entries(after), (all) => all);
  const whole = addFitting({}, changed, (some) => ({ ...details, before: some }));
  return JSON.stringify(Object.keys(whole).length > 0 ? { ...details, before: whole } : details);
}

/** Returns the values with those that are not empty, up to the one with which the line would be too long. */
function addFitting(
  values: Values,
  more: readonly (readonly [string, string])[],
  lineWith: (values: Values) => object,
): Values {
  const [first, ...others] = more;
  if (!first) return values;
  const [name, text] = first;
  if (text === '') return addFitting(values, others, lineWith);
  const value = text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text;
  const longer = { ...values, [name]: value.toWellFormed() };
  const isFitting = Buffer.byteLength(JSON.stringify(lineWith(longer))) <= MAX_DETAILS_BYTES;
  return isFitting ? addFitting(longer, others, lineWith) : values;
}
