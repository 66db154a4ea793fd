/**
 * Readers who got marketing mail before the faults begin. Each of them answers once: the mail of one comes back, another
 * complains to a provider, and another one leaves the list by mail.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../../support/daemon.ts';
import { withRetries } from '../retries.ts';
import { RECIPIENT_DOMAIN, SENDER, type World } from '../world.ts';

export type Reader = {
  emailId: string;
  address: string;
  /** Address at which bounces of the email arrive. */
  returnPath: string;
  /** Address of its List-Unsubscribe field. */
  leaveAddress: string;
  topicId: string;
};

const MAX_WAIT_MS = 120_000;
const PAUSE_MS = 100;

/** Sends an email to each of so many readers, and ends the life of the daemon in peace. */
export async function createReaders(world: World, daemon: DaemonProcess, count: number): Promise<Reader[]> {
  const { id: topicId } = await ask(world, daemon, {
    path: '/topics',
    body: { name: 'News', defaultOptIn: true },
  });
  const ids = new Map<string, string>();
  for (let number = 0; number < count; number++) {
    const to = `reader-${number}@${RECIPIENT_DOMAIN}`;
    const body = {
      from: SENDER,
      to,
      subject: 'News',
      text: '{{{unsubscribe_url}}}',
      type: 'broadcast',
      topicId,
    };
    ids.set(to, (await ask(world, daemon, { path: '/emails', body })).id);
  }
  world.others += count;
  const deadline = performance.now() + MAX_WAIT_MS;
  for (const id of ids.values())
    while ((await ask(world, daemon, { path: `/emails/${id}` })).status !== 'delivered') {
      if (performance.now() > deadline) throw new Error(`email ${id} was not delivered to its reader`);
      await sleep(PAUSE_MS);
    }
  await daemon.stop();
  await world.endLife(Date.now());
  // The far end judges the mail of the load alone.
  return world.receipts.splice(0).map(({ recipient, mailFrom, header }) => {
    const field = header.replace(/\r\n[ \t]+/g, ' ');
    const leaveAddress = /^List-Unsubscribe:.*<mailto:([^>?]+)/im.exec(field)?.[1] ?? '';
    const emailId = ids.get(recipient) ?? '';
    return { emailId, address: recipient, returnPath: mailFrom, leaveAddress, topicId };
  });
}

type Shown = { id: string; status: string };

async function ask(
  { key }: World,
  daemon: DaemonProcess,
  { path, body }: { path: string; body?: object },
): Promise<Shown> {
  const answer = await withRetries(() => daemon.request(body ? 'POST' : 'GET', `/v1${path}`, key, body));
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as Shown;
}
