/** Broadcasts of a fault test: an audience, broadcasts to all of it, and their end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../../support/daemon.ts';
import { withRetries } from '../retries.ts';
import { RECIPIENT_DOMAIN, SENDER, type World } from '../world.ts';
import { type BroadcastVerdict, judgeBroadcasts } from './audit.ts';

export type Campaign = {
  audienceId: string;
  /** Broadcasts whose start was acknowledged. */
  broadcasts: string[];
};

type Shown = { status: string; counts: Record<string, number> };

/** An answer that says no, where there should be none. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Options of the world: nothing but broadcasts, with few sessions so that the messages in doubt can be counted. */
export const SESSIONS = 8;
export const ENVIRONMENT = { POSTRIDER_DELIVERY_CONNECTIONS_PER_SITE: String(SESSIONS) };

const STATES = ['waiting', 'queued', 'delivered', 'bounced', 'suppressed', 'optedOut', 'canceled', 'failed'];
const PAUSE_MS = 100;
const IMPORT_TIMEOUT_MS = 60_000;
const DRAIN_TIMEOUT_MS = 15 * 60_000;
const HTML = `<p>Hello {{firstName|friend}}</p>${'<p>What is new this week.</p>'.repeat(20)}
<a href="{{{unsubscribe_url}}}">Unsubscribe</a>`;

export function addressOf(number: number): string {
  return `reader${number}@${RECIPIENT_DOMAIN}`;
}

/** Imports an audience of this size. */
export async function createCampaign(
  { key }: World,
  daemon: DaemonProcess,
  contacts: number,
): Promise<Campaign> {
  const audience = await expectId(daemon, key, '/v1/audiences', { name: 'Readers' });
  const rows = Array.from({ length: contacts }, (_, index) => `${addressOf(index)},Reader ${index}\n`);
  const path = `/v1/audiences/${audience}/contacts/imports`;
  const csv = `email,firstName\n${rows.join('')}`;
  const asCsv = { 'content-type': 'text/csv' };
  const made = await withRetries(() => daemon.request('POST', path, key, csv, asCsv));
  if (made.status >= 300) throw new Error(`POST an import: ${JSON.stringify(made.body)}`);
  const { id } = made.body as { id: string };
  const signal = AbortSignal.timeout(IMPORT_TIMEOUT_MS);
  for (;;) {
    const { body } = await withRetries(() => daemon.request('GET', `/v1/imports/${id}`, key));
    const { status, created } = body as { status: string; created: number };
    if (status === 'completed' && created === contacts) return { audienceId: audience, broadcasts: [] };
    if (status === 'failed' || signal.aborted) throw new Error(`the import: ${JSON.stringify(body)}`);
    await sleep(PAUSE_MS);
  }
}

/** Sends a broadcast to the audience. It rejects when the daemon ends before its answer. */
export async function sendBroadcast(
  { key }: World,
  daemon: DaemonProcess,
  campaign: Campaign,
): Promise<string> {
  const id = await expectId(daemon, key, '/v1/broadcasts', {
    audienceId: campaign.audienceId,
    from: `News <${SENDER}>`,
    subject: `News {{firstName}}`,
    html: HTML,
  });
  // Once the request is on its way, the broadcast may start, also without an answer.
  campaign.broadcasts.push(id);
  const { status, body } = await withRetries(() => daemon.request('POST', `/v1/broadcasts/${id}/send`, key));
  if (status !== 200) throw new Refusal(`POST send: ${JSON.stringify(body)}`);
  return id;
}

async function expectId(daemon: DaemonProcess, key: string, path: string, given: object): Promise<string> {
  const { status, body } = await withRetries(() => daemon.request('POST', path, key, given));
  if (status !== 201) throw new Refusal(`POST ${path}: ${JSON.stringify(body)}`);
  return (body as { id: string }).id;
}

/** Returns a broadcast as the API shows it. */
export async function show({ key }: World, daemon: DaemonProcess, id: string): Promise<Shown> {
  const { status, body } = await withRetries(() => daemon.request('GET', `/v1/broadcasts/${id}`, key));
  if (status !== 200) throw new Refusal(`GET a broadcast: ${JSON.stringify(body)}`);
  return body as Shown;
}

/** Returns an error in words when the states of the contacts do not add up. */
export function faultsOfSum({ counts }: Shown): string[] {
  const sum = STATES.reduce((total, state) => total + (counts[state] ?? 0), 0);
  return sum === counts['recipients'] ? [] : [`the counts do not add up: ${JSON.stringify(counts)}`];
}

/** Pauses or resumes a broadcast. Returns the status of the answer. */
export async function control(
  { key }: World,
  daemon: DaemonProcess,
  { id, action }: { id: string; action: 'pause' | 'resume' | 'send' },
): Promise<number> {
  const answer = await withRetries(() => daemon.request('POST', `/v1/broadcasts/${id}/${action}`, key));
  return answer.status;
}

/** Resumes or starts what is not sending, and waits until every copy has ended. Returns what is open when time is up. */
async function untilAllSent(
  world: World,
  daemon: DaemonProcess,
  { campaign, signal }: { campaign: Campaign; signal: AbortSignal },
): Promise<string[]> {
  const faults: string[] = [];
  for (const id of campaign.broadcasts) {
    for (;;) {
      const shown = await show(world, daemon, id);
      const { status, counts } = shown;
      faults.push(...faultsOfSum(shown));
      if (status === 'draft') await control(world, daemon, { id, action: 'send' });
      if (status === 'paused') await control(world, daemon, { id, action: 'resume' });
      if (status === 'sent' && counts['queued'] === 0) break;
      if (signal.aborted) {
        faults.push(`not sent in time: ${status}, ${JSON.stringify(counts)}`);
        break;
      }
      await sleep(PAUSE_MS);
    }
  }
  return faults;
}

/** Waits until every broadcast is sent, ends the daemon, and judges. */
export async function finishBroadcasts(
  world: World,
  daemon: DaemonProcess,
  { campaign, contacts }: { campaign: Campaign; contacts: number },
): Promise<BroadcastVerdict> {
  const signal = AbortSignal.timeout(DRAIN_TIMEOUT_MS);
  const faults = await untilAllSent(world, daemon, { campaign, signal });
  await daemon.stop();
  await world.endLife(Date.now());
  const { dataDir, receipts, endOfLifeMs } = world;
  const { broadcasts } = campaign;
  const verdict = judgeBroadcasts(dataDir, receipts, { endOfLifeMs, contacts, broadcasts });
  return { ...verdict, faults: [...faults, ...verdict.faults] };
}
