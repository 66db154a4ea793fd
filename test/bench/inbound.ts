/**
 * Mail that arrives, from SMTP to the disk: the daemon, Postfix's smtpd with its queue and the least program under the
 * same load, and what clients cost that send nothing, send slowly or guess addresses.
 */
import { installPackages } from '../support/debian.ts';
import type { BareInboundInput } from './bare-inbound-path.ts';
import { withLoopDelay } from './event-loop.ts';
import { measureGuesses, measureIdle } from './inbound-clients.ts';
import { startInboundDaemon } from './inbound-daemon.ts';
import { AUTHOR, type InboundMessages, PLAIN_AUTHOR, writeInboundMessages } from './inbound-messages.ts';
import { measureRoutes } from './inbound-routes.ts';
import { SENDER_DOMAIN } from './message.ts';
import { observe } from './observe.ts';
import { startPostfixPeer } from './postfix-peer.ts';
import { startModule } from './program.ts';
import type { Group, Measure, Role, Row } from './row.ts';
import { RSPAMD, startCheckingPeer } from './rspamd-peer.ts';
import { runSmtpSource, SMTP_SOURCE } from './smtp-source.ts';
import type { Workspace } from './workspace.ts';

/** Number of messages that are sent before those that count, while programs compile what they run. */
const WARM_UP_MESSAGES = { small: 2_000, signed: 2_000, large: 500 };

type Case = {
  /** Name of the group: `--only` runs one case alone. */
  group: string;
  name: string;
  message: keyof Omit<InboundMessages, 'zone'>;
  sessions: number;
  messages: number;
  reconnects?: boolean;
  aim: string;
};

const CASES: readonly Case[] = [
  {
    ...{ group: 'inbound-accept-20', name: '4 KiB, 20 kept sessions', message: 'small' },
    ...{ sessions: 20, messages: 4_000, aim: '2.0 x Postfix, 0.4 x bare path, <= 0.5 ms of CPU' },
  },
  {
    ...{ group: 'inbound-accept-100', name: '4 KiB, 100 kept sessions', message: 'small' },
    ...{ sessions: 100, messages: 4_000, aim: '2.0 x Postfix, 0.4 x bare path, <= 0.5 ms of CPU' },
  },
  {
    ...{ group: 'inbound-accept-1', name: '4 KiB, 1 session', message: 'small' },
    ...{ sessions: 1, messages: 2_000, aim: '1.0 x Postfix' },
  },
  {
    ...{ group: 'inbound-accept-each', name: '4 KiB, a connection each, 20 sessions', message: 'small' },
    ...{ sessions: 20, messages: 2_500, reconnects: true, aim: '1.0 x Postfix' },
  },
  {
    ...{ group: 'inbound-accept-large', name: '100 KiB, 20 kept sessions', message: 'large' },
    ...{ sessions: 20, messages: 1_000, aim: '1.0 x Postfix at half its CPU' },
  },
];

/** A message with a signature, whose SPF, DKIM and DMARC pass. Each of the cases above is unsigned. */
const SIGNED: Case = {
  ...{ group: 'inbound-signed', name: '4 KiB, SPF, DKIM and DMARC pass, 20 kept sessions' },
  ...{
    message: 'signed',
    sessions: 20,
    messages: 4_000,
    aim: '1.5 x peer, <= 1.2 ms of CPU, loop p99 < 20 ms',
  },
};

export const inbound: readonly Group[] = [
  ...CASES.map((asked) => groupOf(asked.group, (context) => compare(context, asked))),
  groupOf(SIGNED.group, (context) => [
    {
      ...comparisonOf('Postfix with rspamd', SIGNED, 'peer'),
      measure: () => measureChecking(context, SIGNED),
    },
    {
      ...comparisonOf('Postrider', SIGNED, 'measured'),
      measure: () => measurePostrider(context, SIGNED),
    },
  ]),
  groupOf('inbound-unknown', ({ workspace, messages: { zone } }) => [
    {
      name: 'Postrider: unknown recipients at 1,000/s in 10 kept sessions',
      unit: 'msg/s',
      aim: '<= 0.1 ms of CPU each',
      measure: () => measureGuesses(workspace, zone),
    },
  ]),
  groupOf('inbound-routes', ({ workspace, messages: { zone } }) => [
    {
      name: 'Postrider: latest post to one of 99 destinations beside a dead one, 100/s',
      unit: 'ms',
      aim: '<= 1,000 ms',
      measure: () => measureRoutes(workspace, zone),
    },
  ]),
  groupOf('inbound-idle', ({ workspace, messages: { zone } }) => [
    {
      name: 'Postrider: latest mail beside up to 10,000 idle and 1,000 dripping connections',
      unit: 'ms',
      aim: '<= 1,000 ms, RSS < 1,024 MiB, HTTP p99 unchanged',
      rounds: 1,
      measure: () => measureIdle(workspace, zone),
    },
  ]),
];

/** Returns a group that runs as root, with the programs that it needs. */
function groupOf(name: string, rows: (context: Context) => readonly Row[]): Group {
  return {
    name,
    async prepare(workspace) {
      if (process.getuid?.() !== 0) return { unavailable: 'smtp-source and Postfix run only as root' };
      const rspamd = name === SIGNED.group ? { rspamd: RSPAMD } : {};
      const reason = installPackages({ postfix: SMTP_SOURCE, ...rspamd });
      if (reason !== undefined) return { unavailable: reason };
      return { rows: rows({ workspace, messages: writeInboundMessages(workspace) }) };
    },
  };
}

type Context = { workspace: Workspace; messages: InboundMessages };
type MeasureCase = (context: Context, asked: Case) => Promise<Measure>;

/** Returns the rows of the three systems, which do the same job. */
function compare(context: Context, asked: Case): Row[] {
  const row = (system: string, role: Role, measure: MeasureCase): Row => ({
    ...comparisonOf(system, asked, role),
    measure: () => measure(context, asked),
  });
  return [
    row('bare path', 'bare path', measureBare),
    row('Postfix', 'peer', measurePostfix),
    row('Postrider', 'measured', measurePostrider),
  ];
}

function comparisonOf(system: string, { name, aim }: Case, role: Role): Omit<Row, 'measure'> {
  return {
    name: `${system}: SMTP in, ${name}`,
    unit: 'msg/s',
    comparison: { job: `SMTP in, ${name}`, role },
    ...(role === 'measured' ? { aim } : {}),
  };
}

/** Sends the messages of the case after a short warm-up, and watches what they cost. */
async function measureLoad(
  { messages: files }: Context,
  { message, messages, sessions, reconnects = false }: Case,
  { pids, port }: { pids: readonly number[]; port: number },
): Promise<Measure> {
  const send = (count: number) =>
    runSmtpSource({
      ...{ message: files[message], messages: count, port, sessions, reconnects },
      ...{ recipient: `r@${SENDER_DOMAIN}`, sender: message === 'signed' ? AUTHOR : PLAIN_AUTHOR },
    });
  await send(WARM_UP_MESSAGES[message]);
  return observe(pids, messages, () => send(messages));
}

async function measureBare(context: Context, asked: Case): Promise<Measure> {
  const input: BareInboundInput = { folder: context.workspace.newFolder('bare-inbound') };
  await using program = startModule('bare-inbound-path.ts', input);
  const port = Number(await program.line());
  return await measureLoad(context, asked, { pids: [program.pid], port });
}

async function measurePostfix(context: Context, asked: Case): Promise<Measure> {
  await using peer = await startPostfixPeer(context.workspace, {
    job: 'accept',
    concurrency: asked.sessions,
  });
  return await measureLoad(context, asked, peer);
}

async function measureChecking(context: Context, asked: Case): Promise<Measure> {
  const { workspace, messages } = context;
  const { zone, [asked.message]: message } = messages;
  await using peer = await startCheckingPeer(workspace, { zone, message, concurrency: asked.sessions });
  return await measureLoad(context, asked, peer);
}

async function measurePostrider(context: Context, asked: Case): Promise<Measure> {
  await using postrider = await startInboundDaemon(context.workspace, { zone: context.messages.zone });
  const { daemon, inboundPort: port } = postrider;
  return await withLoopDelay(daemon, () => measureLoad(context, asked, { pids: [daemon.pid], port }));
}
