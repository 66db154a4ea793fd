/** Mail that is delivered to a mailbox: with a script of 100 rules, and without one. */
import { installPackages } from '../support/debian.ts';
import { ask } from './daemon.ts';
import { type InboundDaemon, startInboundDaemon } from './inbound-daemon.ts';
import { writeInboundMessages } from './inbound-messages.ts';
import { SENDER_DOMAIN } from './message.ts';
import { observe } from './observe.ts';
import { until } from './program.ts';
import type { Group, Measure, Row } from './row.ts';
import { runSmtpSource, SMTP_SOURCE } from './smtp-source.ts';
import type { Workspace } from './workspace.ts';

const RULES = 100;
const MESSAGES = 3_000;
const WARM_UP_MESSAGES = 1_000;
const SESSIONS = 20;
/** Nothing here takes longer unless it has stopped. */
const TIMEOUT_MS = 60_000;

type Deliveries = { workspace: Workspace; zone: string; message: string; rules: number };

export const sieve: Group = {
  name: 'sieve',
  async prepare(workspace) {
    if (process.getuid?.() !== 0) return { unavailable: 'smtp-source runs only as root' };
    const reason = installPackages({ postfix: SMTP_SOURCE });
    if (reason !== undefined) return { unavailable: reason };
    const { zone, small: message } = writeInboundMessages(workspace);
    const row = (name: string, rules: number): Omit<Row, 'comparison'> => ({
      name: `Postrider: SMTP to mailbox, 4 KiB, ${name}`,
      unit: 'msg/s',
      measure: () => measureDeliveries({ workspace, zone, message, rules }),
    });
    const job = 'SMTP to mailbox, 4 KiB';
    return {
      rows: [
        { ...row('without a script', 0), comparison: { job, role: 'peer' } },
        {
          ...row(`${RULES} rules`, RULES),
          comparison: { job, role: 'measured' },
          aim: '0.9 x without a script',
        },
      ],
    };
  },
};

/** Measures from the first message to the last one that is in the mailbox, which receives for all addresses of its domain. */
async function measureDeliveries({ workspace, zone, message, rules }: Deliveries): Promise<Measure> {
  await using postrider = await startInboundDaemon(workspace, { zone, localPart: 'known' });
  const { daemon, inboundPort } = postrider;
  await addMailbox(postrider, rules);
  const send = async (messages: number) => {
    const before = await countDeliveries(postrider);
    const load = {
      message,
      messages,
      port: inboundPort,
      sessions: SESSIONS,
      recipient: `r@${SENDER_DOMAIN}`,
    };
    const result = await runSmtpSource(load);
    const isDelivered = async () => (await countDeliveries(postrider)) >= before + messages;
    await until('all messages are delivered', TIMEOUT_MS, isDelivered);
    return { ...result, endedAtMs: Date.now() };
  };
  await send(WARM_UP_MESSAGES);
  return await observe([daemon.pid], MESSAGES, () => send(MESSAGES));
}

async function addMailbox(
  { daemon, sender: { key, domainId } }: InboundDaemon,
  rules: number,
): Promise<void> {
  await ask(daemon, ['PATCH', `/v1/domains/${domainId}`, key], { productType: 'both' });
  await ask(daemon, ['POST', '/v1/mailboxes', key], {
    address: `all@${SENDER_DOMAIN}`,
    aliases: [`*@${SENDER_DOMAIN}`],
    rules: Array.from({ length: rules }, (_, index) => ({
      conditions: [{ field: 'subject', value: `[list ${index}]` }],
      fileInto: `Lists/${index}`,
    })),
  });
}

const DELIVERED = /^postrider_inbound_mailbox_deliveries_total\{result="delivered"\} (\d+)/m;

async function countDeliveries({ daemon }: InboundDaemon): Promise<number> {
  const { body } = await daemon.request('GET', '/metrics', undefined);
  return Number(DELIVERED.exec(String(body))?.[1] ?? 0);
}
