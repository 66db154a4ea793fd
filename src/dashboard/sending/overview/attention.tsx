/** What needs somebody's attention: domains, webhooks, rates and the quota. */
import type { ComponentChildren } from 'preact';
import type { Static } from 'typebox';
import type { domainSchema } from '../../../domains/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import type { Metrics } from '../../../statistics/schemas.ts';
import type { planUsageSchema } from '../../../tenants/schemas.ts';
import type { endpointSchema } from '../../../webhooks/schemas.ts';
import { Foreign } from '../../frame/elements.tsx';
import type { TenantContext } from '../../page.ts';
import { BOUNCE_LINE, bounceStanding, COMPLAINT_LINE, complaintStanding } from './rates.ts';

/** Number of domains and of webhooks that are named; more are behind a link to their list. */
const NAMED = 5;
/** Maximum number of webhooks that are asked for: the largest page of the API, which a tenant has fewer of (`MAX_ENDPOINTS`). */
export const MAX_WEBHOOKS = 100;
/** Share of the quota from which on it is mentioned. */
const QUOTA_LINE = 0.8;

/** States of a domain that is not usable. */
const UNVERIFIED = ['pending', 'failed', 'temporary_failure'] as const;

type List<Item> = { data: readonly Item[]; hasMore: boolean };

/** Returns the list of what needs attention, with a sentence when nothing does. */
export async function attentionOf(context: TenantContext, totals: Metrics['totals']) {
  const { overview } = context.texts;
  const items = [
    ...rateItems(context, totals),
    ...(await quotaItems(context)),
    ...(await approvalItems(context)),
    ...(await domainItems(context)),
    ...(await webhookItems(context)),
  ];
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">{overview.attention}</h2>
      {items.length === 0 ? (
        <p class="empty">{overview.allWell}</p>
      ) : (
        <ul class="attention">
          {items.map((item, index) => (
            <li key={String(index)}>{item}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function rateItems({ texts: { overview }, formats }: TenantContext, totals: Metrics['totals']) {
  const { rates } = totals;
  const [bounces, complaints] = [bounceStanding(totals), complaintStanding(totals)];
  const items: ComponentChildren[] = [];
  if (bounces !== 'good')
    items.push(overview.bouncesHigh(formats.percent(rates.bounced ?? 0), formats.percent(BOUNCE_LINE)));
  if (complaints !== 'good')
    items.push(
      overview.complaintsHigh(formats.percent(rates.complained ?? 0), formats.percent(COMPLAINT_LINE)),
    );
  return items;
}

async function quotaItems({ api, mode, texts: { overview }, formats }: TenantContext) {
  // Test mail does not count.
  if (mode === 'test') return [];
  const { monthlyEmails, usage } = await api.get<Static<typeof planUsageSchema>>('/plan');
  const used = usage.emails ?? 0;
  if (monthlyEmails === null || used < monthlyEmails * QUOTA_LINE) return [];
  return [overview.quota(formats.number(used), formats.number(monthlyEmails))];
}

async function approvalItems({ api, at, texts: { overview } }: TenantContext) {
  const { data } = await api.get<List<unknown>>('/approvals', { state: 'pending', limit: 1 });
  return data.length === 0 ? [] : [<a href={at('/approvals')}>{overview.approvals}</a>];
}

async function domainItems({ api, at, texts: { overview } }: TenantContext) {
  const lists = await Promise.all(
    UNVERIFIED.map((status) =>
      api.get<List<Static<typeof domainSchema>>>('/domains', { status, limit: NAMED }),
    ),
  );
  const domains = lists.flatMap(({ data }) => data);
  const items: ComponentChildren[] = domains.slice(0, NAMED).map(({ id, name, status }) => (
    <>
      <a href={at(path`/domains/${id}`)}>
        <Foreign text={name} />
      </a>
      : {overview.domainStates[status]}
    </>
  ));
  const hasMore = domains.length > NAMED || lists.some((list) => list.hasMore);
  return hasMore ? [...items, <a href={at('/domains')}>{overview.moreDomains}</a>] : items;
}

async function webhookItems({ api, at, texts: { overview } }: TenantContext) {
  const { data } = await api.get<List<Static<typeof endpointSchema>>>('/webhooks', { limit: MAX_WEBHOOKS });
  const failing = data.filter(
    ({ failingSince, disabledReason }) =>
      failingSince !== null || disabledReason === 'failures' || disabledReason === 'gone',
  );
  const items: ComponentChildren[] = failing.slice(0, NAMED).map(({ id, url, status }) => (
    <>
      <a href={at(path`/webhooks/${id}`)}>
        <Foreign text={url} />
      </a>
      : {status === 'disabled' ? overview.webhookDisabled : overview.webhookFailing}
    </>
  ));
  return failing.length > NAMED ? [...items, <a href={at('/webhooks')}>{overview.moreWebhooks}</a>] : items;
}
