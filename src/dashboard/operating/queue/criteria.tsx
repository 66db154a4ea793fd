/** The criteria by which pages select mail of the queue. They stand in the address of a page, under the names that the operations give them. */

import { path } from '../../../http/json/calls.ts';
import type { ShownAction } from '../../../queue/control/show.ts';
import { REPLY_CLASSES } from '../../../queue/outcome/replies/meaning.ts';
import type { AppError } from '../../../system/errors.ts';
import { Foreign } from '../../frame/elements.tsx';
import { FilterField, FilterSelect } from '../../frame/lists.tsx';
import { Why } from '../../frame/refusal.tsx';
import { meaningOf } from '../../frame/reply-class.tsx';
import type { Contexts } from '../../page.ts';

export type OperatorContext = Contexts['operator'];

/** Names of the criteria that select mail by what it is; mail must meet all that are given. */
export const CRITERIA = ['email', 'domain', 'site', 'tenant', 'kind', 'class'] as const;

/** Returns the values of the criteria that are given. */
export function readCriteria(read: (name: string) => string | null): Record<string, string> {
  const values = CRITERIA.map((name) => [name, read(name)?.trim() ?? '']);
  return Object.fromEntries(values.filter(([, value]) => value !== ''));
}

/** Returns the path of the page that changes the mail that criteria select. */
export function changePath(criteria: Readonly<Record<string, string>>): string {
  return `/operator/queue/change?${new URLSearchParams(criteria)}`;
}

/** Returns the path of the list of the mail that criteria select. */
export function mailPath(criteria: Readonly<Record<string, string>>): string {
  return `/operator/queue/mail?${new URLSearchParams(criteria)}`;
}

/** Returns the path of the page of a domain. */
export function domainPath(domain: string): string {
  return `/operator${path`/queue/domains/${domain}`}`;
}

/** Returns the path of the page that shows the attempts at a site. */
export function tracePath(site: string): string {
  return `/operator/queue/trace?${new URLSearchParams({ site })}`;
}

/** Returns the path of the page of a site, by its key, one of its hosts or a domain. */
export function sitePath(name: string): string {
  return `/operator/queue/site?${new URLSearchParams({ name })}`;
}

/** The fields of the criteria. */
export function CriteriaFields({ context }: { context: OperatorContext }) {
  const { queue } = context.texts;
  const kinds = (['transactional', 'broadcast'] as const).map((value) => ({
    value,
    label: queue.kinds[value],
  }));
  const classes = REPLY_CLASSES.map((value) => ({ value, label: meaningOf(context.texts, value) }));
  return (
    <>
      <FilterField context={context} name="domain" label={queue.domain} />
      <FilterField context={context} name="site" label={queue.site} />
      <FilterField context={context} name="tenant" label={queue.tenantHelp} />
      <FilterSelect context={context} name="kind" label={queue.kind} options={kinds} />
      <FilterSelect context={context} name="class" label={queue.class} options={classes} />
      <FilterField context={context} name="email" label={queue.emailId} />
    </>
  );
}

/** The criteria of an action in words. */
export function Selected({ context, action }: { context: OperatorContext; action: ShownAction }) {
  const { queue } = context.texts;
  const { emailId, domain, site, tenantId, kind } = action;
  const criteria = [
    [queue.email, emailId],
    [queue.groupings.domain, domain],
    [queue.groupings.site, site],
    [queue.tenant, tenantId],
    [queue.kind, kind === null ? null : queue.kinds[kind]],
    [queue.class, action.class && meaningOf(context.texts, action.class)],
  ].flatMap(([name, value]) => (value == null ? [] : [`${name} ${value}`]));
  return <Foreign text={criteria.length === 0 ? queue.everything : criteria.join(', ')} />;
}

/** Says why something in the address was refused. */
export function Refused({ context, refusal }: { context: OperatorContext; refusal: AppError }) {
  return (
    <p class="refused" role="alert">
      <Why context={context} refusal={refusal} />
    </p>
  );
}
