/** What the rows of the benchmark at a million hold, by their number: the same for who writes them and who asks for them. */
import type { EmailStatus, RecipientState } from '../../src/db/tables.ts';

export const LAST_YEAR_MS = 365 * 24 * 3_600_000;
export const RECIPIENTS = 50_000;
export const SENDERS = 200;
const SENDER_DOMAINS = 20;
const RECIPIENT_DOMAINS = 1_000;
const CAMPAIGNS = 50;

/** Of a thousand, in turn; what is left is delivered. */
const STANDINGS: readonly [count: number, status: EmailStatus, state: RecipientState, attempts: number][] = [
  [30, 'bounced', 'bounced', 1],
  [10, 'queued', 'ready', 0],
  [15, 'sent', 'deferred', 2],
  [5, 'complained', 'complained', 1],
  [5, 'canceled', 'canceled', 0],
];

/** Every other email is from one sender; the rest is spread over all. */
export function emailAt(index: number) {
  const sender = index % 2 === 0 ? 0 : Math.floor(index / 2) % SENDERS;
  const fromDomain = `s${sender % SENDER_DOMAINS}.test`;
  const recipient = index % RECIPIENTS;
  const toDomain = `d${recipient % RECIPIENT_DOMAINS}.test`;
  return {
    ...standingAt(index),
    from: { address: `team${sender}@${fromDomain}`, domain: fromDomain },
    to: { address: `r${recipient}@${toDomain}`, domain: toDomain },
    tags: {
      campaign: `c${index % CAMPAIGNS}`,
      ...(index % 4 === 0 && { order: String(index) }),
    } as Readonly<Record<string, string>>,
  };
}

function standingAt(index: number): { status: EmailStatus; state: RecipientState; attempts: number } {
  // A prime step, so that no standing falls together with a sender or a campaign.
  let place = (index * 7) % 1_000;
  for (const [count, status, state, attempts] of STANDINGS) {
    if (place < count) return { status, state, attempts };
    place -= count;
  }
  return { status: 'delivered', state: 'delivered', attempts: 1 };
}

/** Returns an address that is suppressed and gets no email of the million. */
export function suppressedAt(index: number): string {
  return `gone${index}@d${index % RECIPIENT_DOMAINS}.test`;
}

export const CITIES = ['Berlin', 'München', 'Paris', 'Oslo', 'Łódź', 'Madrid', 'Roma', 'Wien'] as const;
const PLANS = ['free', 'pro', 'Team'] as const;
const FIRST_AGE = 18;
const AGES = 60;

export function contactProperties(index: number) {
  return {
    plan: PLANS[index % PLANS.length],
    city: CITIES[Math.floor(index / 3) % CITIES.length],
    age: FIRST_AGE + (Math.floor(index / 24) % AGES),
    orders: index % 17,
    trial: index % 10 === 0,
    lastOrderAt: new Date(1_750_000_000_000 + (index % 1_000) * 3_600_000).toISOString(),
  };
}

/** Of three rules, each on a property; and which contacts it finds. */
export const SEGMENT_FILTER = {
  op: 'and',
  rules: [
    { field: 'properties.plan', cmp: 'eq', value: 'team' },
    { field: 'properties.age', cmp: 'gte', value: 40 },
    { field: 'properties.city', cmp: 'ne', value: 'münchen' },
  ],
};

export function isInSegment(index: number): boolean {
  const { plan, age, city } = contactProperties(index);
  return plan === 'Team' && age >= 40 && city !== 'München';
}
