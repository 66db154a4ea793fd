/** Unsubscribing with one click (RFC 8058) while the API refuses writes, because more come than it can store. */

import { setTimeout as delay } from 'node:timers/promises';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { withLoopDelay } from '../event-loop.ts';
import type { HttpLoad } from '../http-load.ts';
import { RECIPIENT, RECIPIENT_DIGITS, SENDER } from '../message.ts';
import { type PacedLoad, runPaced } from '../paced-load.ts';
import { startModule, until } from '../program.ts';
import type { Measure } from '../row.ts';
import type { Workspace } from '../workspace.ts';
import { type Filled, type Newsroom, type Opening, withNewsroom } from './newsroom.ts';

const CLICKS_PER_SECOND = 50;
/** Clients of the API at the same time: more writes wait than it accepts before it refuses others. */
const FLOOD_CONNECTIONS = 1_500;
const FLOOD_REQUESTS = 1_000_000;
/** Time until the API refuses. */
const FLOOD_BEGINS_MS = 2_000;
const TIMEOUT_MS = 120_000;
/** Readers come from many addresses, each with a limit of its own. */
const PROXIED = { POSTRIDER_HTTP_TRUSTED_PROXIES: '127.0.0.1' };
const UNSUBSCRIBE = /^List-Unsubscribe: <(https:[^>]+)>/im;

export async function measureOneClick(
  workspace: Workspace,
  filled: Filled,
  { windowMs }: { windowMs: number },
): Promise<Measure> {
  await using sink = await startSmtpSink({ keepRaw: true });
  const opening: Opening = { smtpPort: sink.port, env: PROXIED };
  const clicks = Math.ceil((windowMs * CLICKS_PER_SECOND) / 1_000) + CLICKS_PER_SECOND;
  // The links stay valid in the second daemon, which has the same keys.
  const links = await withNewsroom(workspace, filled, opening, async (newsroom) => {
    await newsroom.send(filled.others);
    await until('readers have their links', TIMEOUT_MS, () => sink.messages.length >= clicks);
    return sink.messages.map(({ raw }) => new URL(UNSUBSCRIBE.exec(String(raw))?.[1] ?? ''));
  });
  return await withNewsroom(workspace, filled, opening, (newsroom) =>
    withLoopDelay(newsroom.daemon, () => click(newsroom, filled, { links, windowMs })),
  );
}

async function click(
  { daemon }: Newsroom,
  { many: { key } }: Filled,
  { links, windowMs }: { links: readonly URL[]; windowMs: number },
): Promise<Measure> {
  const flood = startModule('http-load.ts', floodOf(daemon.address, key));
  await delay(FLOOD_BEGINS_MS);
  const until = Date.now() + windowMs;
  const isOver = () => Date.now() > until;
  const host = links[0]?.host ?? '';
  const clicking: PacedLoad = {
    url: (index) => new URL(links[index]?.pathname ?? '', daemon.address),
    headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
    headersOf: (index) => ({
      'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
    }),
    bodyOf: () => 'List-Unsubscribe=One-Click',
    perSecond: CLICKS_PER_SECOND,
  };
  const clicks = await runPaced(clicking, isOver);
  await flood.stop();
  const metrics = String((await daemon.request('GET', '/metrics', undefined)).body);
  if (clicks.refused > 0) throw new Error(`${clicks.refused} of ${clicks.requests} clicks were refused`);
  return {
    figure: clicks.p99Ms,
    p50Ms: clicks.p50Ms,
    p99Ms: clicks.p99Ms,
    details: {
      unsubscribed: clicks.requests,
      'writes that the API refused meanwhile': shedRequests(metrics),
    },
  };
}

function floodOf(address: string, key: string): HttpLoad {
  const email = { from: SENDER, to: RECIPIENT, subject: 'Hi', text: 'Hi', type: 'transactional' };
  return {
    port: Number(new URL(address).port),
    path: '/v1/emails',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(email),
    counter: RECIPIENT_DIGITS,
    connections: FLOOD_CONNECTIONS,
    requests: FLOOD_REQUESTS,
    isFlood: true,
  };
}

/** Adds up the requests that were refused, for whatever reason (Prometheus' text format). */
function shedRequests(metrics: string): number {
  const values = [...metrics.matchAll(/^postrider_http_requests_shed_total\{[^}]*\} (\d+)$/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}
