/**
 * A million emails and a million contacts: what pages of 100 cost anywhere in the lists, by each filter, and what it takes
 * to count a segment while others read. The database is filled once and used by every round.
 */

import { newId } from '../../src/system/ids.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { ask, measureOn, startTimed } from './daemon.ts';
import { emailAt, isInSegment, LAST_YEAR_MS, SEGMENT_FILTER } from './million-rows.ts';
import { fillMillion, type MillionStore, ROWS } from './million-store.ts';
import { median, percentile } from './percentile.ts';
import { treeMemory } from './process-tree.ts';
import type { Group, Measure } from './row.ts';

const PAGE = 100;
const REQUESTS_PER_KIND = 200;
const COUNTS = 5;
const DAY_MS = 24 * 3_600_000;

const shown = ROWS.toLocaleString('en');

export const million: Group = {
  name: 'million',
  async prepare(workspace) {
    let filled: Promise<MillionStore> | undefined;
    const row = (
      name: string,
      aim: string,
      measure: (daemon: DaemonProcess, store: MillionStore) => Promise<Measure>,
    ) => ({
      name: `Postrider: ${name}`,
      unit: 'ms' as const,
      aim,
      async measure() {
        filled ??= fillMillion(workspace);
        const store = await filled;
        return measureOn(store, (daemon) => measure(daemon, store));
      },
    });
    return {
      rows: [
        row(`slowest p99 of a list or a retrieve, ${shown} emails`, 'under 20 ms', (daemon, store) =>
          measureKinds(daemon, store, emailKinds(store)),
        ),
        row(`slowest p99 of a list or a retrieve, ${shown} contacts`, 'under 20 ms', (daemon, store) =>
          measureKinds(daemon, store, contactKinds(store)),
        ),
        row(
          `a segment of three rules counted, ${shown} contacts`,
          'under 1,500 ms, loop p99 under 50',
          measureSegment,
        ),
        {
          name: `Postrider: start to serving, ${shown} emails`,
          unit: 'ms',
          aim: 'under 1,000 ms',
          async measure() {
            filled ??= fillMillion(workspace);
            return measureStart(await filled);
          },
        },
      ],
    };
  },
};

async function measureStart(store: MillionStore): Promise<Measure> {
  const { daemon, startMs } = await startTimed(store, await freePort());
  await daemon.stop();
  return { figure: startMs };
}

type Kind = { name: string; path: () => string };

function emailKinds(store: MillionStore): Kind[] {
  const some = () => emailAt(Math.floor(Math.random() * ROWS));
  const list = (name: string, query: () => string): Kind => ({
    name,
    path: () => `/v1/emails?limit=${PAGE}&${cursor('em', store)}&${query()}`,
  });
  const statuses = ['queued', 'sent', 'delivered', 'bounced', 'complained', 'canceled'];
  const standings = [
    'queued',
    'sent',
    'deferred',
    'delivered',
    'bounced',
    'complained',
    'suppressed',
    'canceled',
  ];
  return [
    list('all', () => ''),
    ...statuses.map((status) => list(`status ${status}`, () => `status=${status}`)),
    list('from address, half of all', () => `from=${emailAt(0).from.address}`),
    list('from address, any', () => `from=${some().from.address}`),
    list('from domain', () => `from=${some().from.domain}`),
    list('to', () => `to=${some().to.address}`),
    list('tag', () => `tag=campaign:${some().tags['campaign']}`),
    list('tag of one email', () => `tag=order:${Math.floor(Math.random() * ROWS)}`),
    ...standings.map((standing) => list(`recipient ${standing}`, () => `recipientStatus=${standing}`)),
    { name: 'a day', path: () => `/v1/emails?limit=${PAGE}&${day(store)}` },
    { name: 'a day of bounced', path: () => `/v1/emails?limit=${PAGE}&status=bounced&${day(store)}` },
    { name: 'retrieve', path: () => `/v1/emails/${oneOf(store.ids.emails)}` },
  ];
}

function contactKinds(store: MillionStore): Kind[] {
  const contacts = `/v1/audiences/${store.audienceId}/contacts`;
  const list = (name: string, query: () => string): Kind => ({
    name,
    path: () => `${contacts}?limit=${PAGE}&${cursor('ct', store)}&${query()}`,
  });
  const address = () => {
    const index = Math.floor(Math.random() * ROWS);
    return `READER${index}@d${index % 200}.test`;
  };
  return [
    list('all', () => ''),
    list('email', () => `email=${address()}`),
    list('unsubscribed', () => 'unsubscribed=true'),
    list('subscribed', () => 'unsubscribed=false'),
    { name: 'a day', path: () => `${contacts}?limit=${PAGE}&${day(store)}` },
    { name: 'retrieve', path: () => `${contacts}/${oneOf(store.ids.contacts)}` },
    { name: 'retrieve by address', path: () => `${contacts}/${address()}` },
  ];
}

/** Anywhere in the history, and in either direction. */
function cursor(prefix: 'em' | 'ct', { nowMs }: MillionStore): string {
  const direction = Math.random() < 0.5 ? 'startingAfter' : 'endingBefore';
  return `${direction}=${newId(prefix, Math.floor(nowMs - Math.random() * LAST_YEAR_MS))}`;
}

function day({ nowMs }: MillionStore): string {
  const from = Math.floor(nowMs - Math.random() * LAST_YEAR_MS);
  return `createdAfter=${new Date(from).toISOString()}&createdBefore=${new Date(from + DAY_MS).toISOString()}`;
}

function oneOf(ids: readonly string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? '';
}

async function measureKinds(
  daemon: DaemonProcess,
  store: MillionStore,
  kinds: readonly Kind[],
): Promise<Measure> {
  const all: number[] = [];
  const slowest = new Map<string, number>();
  // What is only slow the first time is not what is asked.
  for (const { path } of kinds) await timed(daemon, store, path());
  for (const { name, path } of kinds) {
    const times: number[] = [];
    for (let count = 0; count < REQUESTS_PER_KIND; count++) times.push(await timed(daemon, store, path()));
    all.push(...times);
    slowest.set(`p99 of ${name}`, percentile(times, 0.99));
  }
  return {
    figure: Math.max(...slowest.values()),
    p50Ms: median(all),
    p99Ms: percentile(all, 0.99),
    memory: treeMemory([daemon.pid]),
    details: Object.fromEntries(slowest),
  };
}

/** Milliseconds until the whole answer. */
async function timed(daemon: DaemonProcess, { key }: MillionStore, path: string): Promise<number> {
  const askedAt = performance.now();
  await ask(daemon, ['GET', path, key]);
  return performance.now() - askedAt;
}

/** Counted several times over, while another client goes through the lists of emails and of contacts. */
async function measureSegment(daemon: DaemonProcess, store: MillionStore): Promise<Measure> {
  const expected = Array.from({ length: ROWS }, (_, index) => isInSegment(index)).filter(Boolean).length;
  const [emails, contacts] = [emailKinds(store)[0], contactKinds(store)[0]];
  const meanwhile: number[] = [];
  let counting = true;
  const reading = async (kind: Kind | undefined) => {
    while (counting && kind) meanwhile.push(await timed(daemon, store, kind.path()));
  };
  const readers = [reading(emails), reading(contacts)];
  const times: number[] = [];
  try {
    for (let count = 0; count < COUNTS; count++) times.push(await countSegment(daemon, store, expected));
  } finally {
    counting = false;
    await Promise.all(readers);
  }
  return {
    figure: median(times),
    memory: treeMemory([daemon.pid]),
    details: {
      'a page of a list meanwhile, p50 ms': median(meanwhile),
      'a page of a list meanwhile, p99 ms': percentile(meanwhile, 0.99),
    },
  };
}

async function countSegment(daemon: DaemonProcess, { key, audienceId }: MillionStore, expected: number) {
  const askedAt = performance.now();
  const question = { audienceId, filter: SEGMENT_FILTER };
  const count = ['POST', '/v1/segments/count', key] as const;
  const { contactCount } = await ask<{ contactCount: number }>(daemon, count, question);
  if (contactCount !== expected) throw new Error(`${contactCount} contacts instead of ${expected}`);
  return performance.now() - askedAt;
}
