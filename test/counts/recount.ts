/** Counts everything again from the event log, in another way than the program: the counters must agree at every moment. */
import assert from 'node:assert/strict';
import { COUNTERS, type Counter, SPAN_MS } from '../../src/counts/tally.ts';
import type { Tx } from '../../src/db/operation.ts';

type Data = {
  to?: string;
  email?: string;
  bounce?: { type: 'permanent' | 'transient' | 'undetermined' };
  open?: { bot: boolean };
  click?: { bot: boolean };
};

const COUNTED_ONCE: Readonly<Record<string, Counter>> = {
  'email.queued': 'accepted',
  'email.delivered': 'delivered',
  'email.complained': 'complained',
  'email.suppressed': 'suppressed',
  'email.canceled': 'canceled',
  'contact.unsubscribed': 'unsubscribed',
};
const BOUNCES = {
  permanent: 'bouncedPermanent',
  transient: 'bouncedTransient',
  undetermined: 'bouncedUndetermined',
} as const;
const PROVIDERS: Readonly<Record<string, string>> = {
  'gmail.com': 'gmail',
  'yahoo.com': 'yahoo',
  'outlook.com': 'microsoft',
};

/** Returns the counters as lines of text, such as `… hour 2026-03-01T12 … delivered=2`, in order. */
export async function countersOf(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('counts').selectAll().execute();
  return rows
    .flatMap((row) =>
      COUNTERS.filter((counter) => row[counter] !== 0).map((counter) => {
        const { tenantId, mode, kind, domainId, broadcastId, provider, span, start } = row;
        const time = new Date(start).toISOString();
        return `${[tenantId, mode, kind, domainId, broadcastId, provider, span, time, counter].join(' ')} = ${row[counter]}`;
      }),
    )
    .sort();
}

/** Returns what the counters must be. */
export async function recountedOf(tx: Tx): Promise<string[]> {
  const events = await tx
    .selectFrom('events')
    .leftJoin('messages', 'messages.id', 'events.emailId')
    .select(['events.tenantId', 'events.mode', 'type', 'emailId', 'data', 'events.createdAt'])
    .select(['messages.kind', 'messages.domainId', 'messages.broadcastId'])
    .orderBy('events.id')
    .execute();
  const sums = new Map<string, number>();
  const seen = new Set<string>();
  for (const { type, emailId, data: json, createdAt, ...event } of events) {
    const data = JSON.parse(json) as Data;
    const address = data.to ?? data.email ?? '';
    const isNew = (name: string) => {
      const whole = `${name} ${emailId} ${address}`;
      if (seen.has(whole)) return false;
      seen.add(whole);
      return true;
    };
    for (const counter of whatCounts(type, data, isNew))
      for (const span of ['hour', 'day'] as const) {
        const time = new Date(Math.floor(createdAt / SPAN_MS[span]) * SPAN_MS[span]).toISOString();
        const provider = PROVIDERS[address.split('@')[1] ?? ''] ?? 'other';
        const { tenantId, mode, kind, domainId, broadcastId } = event;
        const mail = [kind ?? 'broadcast', domainId ?? '', broadcastId ?? ''];
        const name = [tenantId, mode, ...mail, provider, span, time, counter].join(' ');
        sums.set(name, (sums.get(name) ?? 0) + 1);
      }
  }
  return [...sums].map(([name, sum]) => `${name} = ${sum}`).sort();
}

function whatCounts(type: string, data: Data, isNew: (name: string) => boolean): Counter[] {
  const simple = COUNTED_ONCE[type];
  if (simple) return [simple];
  if (data.bounce) return [BOUNCES[data.bounce.type]];
  if (type === 'email.delivery_delayed') return isNew('delay') ? ['delayed'] : [];
  if (data.open)
    return data.open.bot ? ['machineOpened'] : isNew('open') ? ['opened', 'uniqueOpened'] : ['opened'];
  if (data.click)
    return data.click.bot ? ['machineClicked'] : isNew('click') ? ['clicked', 'uniqueClicked'] : ['clicked'];
  return [];
}

/** Checks that the counters agree with the events, and that each of `counters` has counted something. */
export async function assertRecounted(tx: Tx, counters: readonly Counter[] = []): Promise<void> {
  const counted = await countersOf(tx);
  assert.deepEqual(counted, await recountedOf(tx));
  for (const counter of counters)
    assert.ok(
      counted.some((line) => line.includes(` ${counter} = `)),
      `nothing was counted as ${counter}`,
    );
}
