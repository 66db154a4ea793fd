/**
 * Makes the line of the audit log for an action of a page. The line is there before the action: who, from where, what, and what it was before. It
 * gets its outcome afterwards. So nothing is changed without a line, and a line without an outcome tells that the daemon has ended meanwhile.
 */
import type { AuditOutcome, AuditRow } from '../../db/people-tables.ts';
import type { Form } from '../../http/pages/form-body.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import type { Acted, ActsAs, Answer, Area, Contexts, DashboardApp, PageDefinition } from '../page.ts';
import { nameAndAddress } from '../people/fields.ts';
import { listMemberships, soleTenant } from '../people/memberships-store.ts';
import type { Values } from './before.tsx';
import { detailsOf, shortened } from './details.ts';
import { beginAudit, completeAudit } from './store.ts';

export type AuditApp = Pick<DashboardApp, 'clock' | 'db' | 'log'>;

type Act = {
  page: Pick<PageDefinition, 'area' | 'path'>;
  /** Name of the action. */
  name: string;
  context: Contexts[Area];
  /** The fields of the form that are logged. */
  logs?: readonly string[] | undefined;
  form?: Form;
  /** Values that the page has shown before. Those of logged fields that were different are kept. */
  before?: Values;
  /** Values that the form does not have, such as the name of a person that it names by its id. */
  names?: Values | undefined;
};

/**
 * Runs an action with its line. Before a login, the action itself begins the line, with `actsAs`; one of a stranger has none.
 * @throws AppError rate_limited when somebody has made too many lines; the errors of the action
 */
export async function recorded(
  app: AuditApp,
  act: Act,
  run: (actsAs: ActsAs) => Promise<Answer>,
): Promise<Answer> {
  let line: AuditRow['id'] | undefined;
  const actsAs: ActsAs = async (acted) => {
    line ??= await begin(app, act, acted);
  };
  if ('session' in act.context) await actsAs({});
  try {
    const answer = await run(actsAs);
    await complete(app, line, { outcome: 'done', ...answer.acted });
    return answer;
  } catch (error) {
    await complete(app, line, { outcome: error instanceof AppError ? 'refused' : 'failed' });
    throw error;
  }
}

/** Writes the line. It returns its id when it waits for an outcome. */
async function begin(app: AuditApp, act: Act, acted: Acted): Promise<AuditRow['id'] | undefined> {
  const who = await whoActs(app, act, acted);
  if (!who) return undefined;
  const { page, name, context, logs = [], form, before = {}, names = {} } = act;
  const now = app.clock.now();
  const id = newId('adt', now);
  const beginning = await app.db.commit(beginAudit, {
    id,
    at: now,
    ...who,
    address: context.clientAddress,
    action: `${page.area}${page.path} ${name}`,
    target: targetOf(context),
    mode: 'mode' in context ? context.mode : null,
    details: form ? formDetails(form, { logs, before, names }) : '{}',
  });
  if (beginning === 'refused')
    throw new AppError(
      'rate_limited',
      'You have changed as much as one person may change here in a day; use the API, or go on tomorrow',
    );
  return beginning === 'begun' ? id : undefined;
}

/** Stores the outcome. The action has ended by then, so that a failure here is no failure of the action. */
export async function complete(
  { db, log }: AuditApp,
  id: AuditRow['id'] | undefined,
  { outcome, tenantId = null }: Pick<Acted, 'tenantId'> & { outcome: AuditOutcome },
): Promise<void> {
  if (id === undefined) return;
  try {
    await db.commit(completeAudit, { id, outcome, tenantId });
  } catch (error) {
    log.error({ err: error, id, outcome }, 'the outcome of a line of the audit log could not be stored');
  }
}

type Who = Pick<AuditRow, 'personId' | 'mailboxId' | 'actor' | 'tenantId'>;

/** Returns who acts, and the tenant whose owners see it. */
async function whoActs(
  { db }: Pick<AuditApp, 'db'>,
  { context }: Act,
  acted: Acted,
): Promise<Who | undefined> {
  const mailbox = acted.mailbox ?? ('mailbox' in context ? context.mailbox : undefined);
  if (mailbox) {
    const { id: mailboxId, tenantId, address: actor } = mailbox;
    return { personId: null, mailboxId, tenantId, actor };
  }
  const person = acted.person ?? ('person' in context ? context.person : undefined);
  if (!person) return undefined;
  const tenantId = acted.tenantId === undefined ? await tenantOf(db, context, person) : acted.tenantId;
  return { personId: person.id, mailboxId: null, tenantId, actor: nameAndAddress(person) };
}

/** Returns the tenant of a page. What a person does with its account is seen by the owners of the tenant that it belongs to alone. */
async function tenantOf(
  db: DashboardApp['db'],
  context: Contexts[Area],
  person: NonNullable<Acted['person']>,
): Promise<AuditRow['tenantId']> {
  if ('tenant' in context) return context.tenant.tenantId;
  if ('operator' in context) return null;
  const memberships =
    'memberships' in context ? context.memberships : await listMemberships(db.read, person.id);
  return soleTenant(person, memberships);
}

/** Returns the parameters of the page's path. Those of pages before the login are secrets. */
function targetOf(context: Contexts[Area]): string {
  if (!('session' in context)) return '';
  const { tenant, mode, ...params } = context.params;
  return shortened(Object.values(params).join(' '));
}

type Logged = { logs: readonly string[]; before: Values; names: Values };

/** Returns the fields that are logged, with what they were before. */
function formDetails(form: Form, { logs, before, names }: Logged): string {
  const after = Object.fromEntries(logs.map((name) => [name, form.values(name).join(', ')]));
  const earlier = logs.map((name) => [name, before[name] ?? ''] as const);
  const changed = earlier.filter(([name, value]) => value !== after[name]);
  return detailsOf([...Object.entries(names), ...Object.entries(after)], changed);
}
