/**
 * kill -9 before and after the commit of an approval, of emails and of broadcasts. After the next start each is either still pending, and can be
 * approved, or approved, and leaves. Nothing leaves twice, and nothing without an approval.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CrashPointName } from '../../src/crash-points.ts';
import type { showTenant } from '../../src/tenants/admin-schemas.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import type { Result } from './part.ts';
import { requireKill, untilDeath } from './planned-end.ts';

const POINTS = {
  emails: ['approval-email-before-commit', 'approval-email-after-commit'],
  broadcasts: ['approval-broadcast-before-commit', 'approval-broadcast-after-commit'],
} as const satisfies Record<string, readonly CrashPointName[]>;
const LIMIT_MS = 60_000;
const FROM = 'hello@sandbox.localhost';
const TO = 'delivered@simulator.localhost';

type Kind = keyof typeof POINTS;
type World = { dataDir: string; key: string; intern: string; audienceId: string };
type Waiting = { kind: Kind; id: string; crashAt: CrashPointName };

export async function killApprovals(): Promise<Result> {
  const world = await prepare(temporaryDirectory('approvals'));
  const faults: string[] = [];
  const all: Waiting[] = [];
  for (const kind of Object.keys(POINTS) as Kind[])
    for (const crashAt of POINTS[kind]) {
      const daemon = await startDaemonProcess({ dataDir: world.dataDir, crashAt });
      const waiting = { kind, id: await send(daemon, world, kind), crashAt };
      all.push(waiting);
      const asked = decide(daemon, world, waiting).catch(() => undefined);
      const { atPoint } = await untilDeath(daemon, LIMIT_MS);
      await requireKill(daemon);
      await asked;
      if (!atPoint) faults.push(`not reached in time: ${crashAt}`);
    }
  const last = await startDaemonProcess({ dataDir: world.dataDir });
  for (const waiting of all) faults.push(...(await judge(last, world, waiting)));
  await last.stop();
  return { lines: [`${all.length} kills; each email and broadcast was approved and sent once`], faults };
}

async function prepare(dataDir: string): Promise<World> {
  const daemon = await startDaemonProcess({ dataDir });
  const key = daemon.testKey ?? '';
  const [tenant] = (await daemon.cli(['tenant', 'list'])) as ReturnType<typeof showTenant>[];
  const { token: intern } = (await daemon.cli([
    ...['key', 'create', '--tenant', tenant?.id ?? '', '--mode', 'test', '--permission', 'full_access'],
    ...['--name', 'intern', '--requires-approval', 'broadcasts_and_emails'],
  ])) as { token: string };
  const audience = await daemon.request('POST', '/v1/audiences', key, { name: 'Readers' });
  const audienceId = idOf(audience.body);
  await daemon.request('POST', `/v1/audiences/${audienceId}/contacts`, key, { email: TO });
  await daemon.stop();
  return { dataDir, key, intern, audienceId };
}

function idOf(body: unknown): string {
  return (body as { id: string }).id;
}

/** Sends an email or a broadcast with the key that requires approval, and returns its id. */
async function send(daemon: DaemonProcess, { intern, audienceId }: World, kind: Kind): Promise<string> {
  if (kind === 'emails') {
    const email = { from: FROM, to: TO, subject: 'Hi', text: 'Hi', type: 'transactional' };
    return idOf((await daemon.request('POST', '/v1/emails', intern, email)).body);
  }
  const html = '<a href="{{{unsubscribe_url}}}">Unsubscribe</a>';
  const draft = { from: FROM, audienceId, subject: 'Hi', html };
  const id = idOf((await daemon.request('POST', '/v1/broadcasts', intern, draft)).body);
  await daemon.request('POST', `/v1/broadcasts/${id}/send`, intern);
  return id;
}

type Shown = {
  status: string;
  approval: { state: string; hash: string } | null;
  events?: { type: string }[];
};
type ShownBroadcast = Shown & { counts: { delivered: number; recipients: number } };

async function show(daemon: DaemonProcess, { key }: World, { kind, id }: Waiting): Promise<ShownBroadcast> {
  return (await daemon.request('GET', `/v1/${kind}/${id}`, key)).body as ShownBroadcast;
}

async function decide(daemon: DaemonProcess, world: World, waiting: Waiting): Promise<number> {
  const { approval } = await show(daemon, world, waiting);
  const path = `/v1/${waiting.kind}/${waiting.id}/approve`;
  return (await daemon.request('POST', path, world.key, { hash: approval?.hash })).status;
}

/** Approves what is still pending, waits until it is delivered, and returns what is wrong. */
async function judge(daemon: DaemonProcess, world: World, waiting: Waiting): Promise<string[]> {
  const { crashAt, kind } = waiting;
  const { approval } = await show(daemon, world, waiting);
  const expected = crashAt.endsWith('before-commit') ? 'pending' : 'approved';
  if (approval?.state !== expected) return [`${crashAt}: the approval is ${approval?.state}`];
  if (expected === 'pending' && (await decide(daemon, world, waiting)) !== 200)
    return [`${crashAt}: it cannot be approved`];
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const { status, events = [], counts } = await show(daemon, world, waiting);
    const sent = events.filter(({ type }) => type === 'email.sent').length;
    if (kind === 'emails' && status === 'delivered')
      return sent === 1 ? [] : [`${crashAt}: it was sent ${sent} times`];
    if (kind === 'broadcasts' && status === 'sent')
      return counts.recipients === 1 && counts.delivered === 1
        ? []
        : [`${crashAt}: ${JSON.stringify(counts)}`];
    if (Date.now() > until) return [`${crashAt}: it is ${status}`];
    await delay(100);
  }
}
