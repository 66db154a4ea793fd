/** Sends one real message, and reports what the receiver said. A message that an earlier run sent is not sent again. */
import { type Finding, findingsOf } from '../../doctor/check.ts';
import type { MessageDetails, ShownMessage } from '../../queue/control/message-api.ts';
import { realClock, sleepInForeground } from '../../system/clock.ts';
import type { ControlClient } from '../control-client.ts';
import type { Accounts } from './accounts.ts';

const { ok, warn, fail } = findingsOf('message');

/** Maximum time for which the reply of the receiver is waited for, in milliseconds. */
const MAX_REPLY_MS = 60_000;
const PAUSE_MS = 250;
/** Number of newest emails to the address among which the one of an earlier run is looked for. */
const LOOKED_AT = 100;

type Sending = { control: Pick<ControlClient, 'request'>; accounts: Accounts; to: string };

/** Returns the outcome of the message. */
export async function sendMessage({ control, accounts, to }: Sending): Promise<Finding[]> {
  const from = `setup@${accounts.domain.name}`;
  const id = (await findEarlier(control, { to, from })) ?? (await send(control, { accounts, to, from }));
  const until = realClock.elapsed() + MAX_REPLY_MS;
  for (;;) {
    const email = await control.request<MessageDetails>('GET', `/emails/${id}`);
    const finding = judge(email, to);
    const isHere = to.toLowerCase().endsWith(`@${accounts.domain.name}`);
    if (finding) return [isHere && finding.level === 'ok' ? deliveredHere(to) : finding];
    if (realClock.elapsed() > until) return [warn(to, 'no reply yet', `postrider email show ${id}`)];
    await sleepInForeground(PAUSE_MS);
  }
}

type Path = { to: string; from: string };

async function findEarlier(control: Sending['control'], { to, from }: Path): Promise<string | undefined> {
  const query = new URLSearchParams({ to, limit: String(LOOKED_AT) });
  const { emails } = await control.request<{ emails: ShownMessage[] }>('GET', `/emails?${query}`);
  return emails.find(({ sender }) => sender === from)?.id;
}

async function send(
  control: Sending['control'],
  { accounts, to, from }: Path & Pick<Sending, 'accounts'>,
): Promise<string> {
  const { id } = await control.request<{ id: string }>('POST', '/emails', {
    tenant: accounts.tenantId,
    mode: 'live',
    from,
    to: [to],
    subject: 'Your mail server works',
    text: `This is the first message of ${accounts.domain.name} from your own mail server.\n`,
  });
  return id;
}

/** Mail to the new mailbox does not leave this machine. */
function deliveredHere(to: string): Finding {
  const says = 'a message is in the new mailbox, on this machine, which says nothing of receivers elsewhere';
  return warn(to, says, 'send one to an address elsewhere: run this again with --test-to you@other.example');
}

/** Returns the outcome; undefined while there is none. */
function judge({ id, recipients, attempts }: MessageDetails, to: string): Finding | undefined {
  const [recipient] = recipients;
  const last = attempts.at(-1);
  const reply = last?.reply ?? recipient?.diagnostic ?? 'without a reply';
  const host = last?.mx ?? 'this machine';
  switch (recipient?.status) {
    case 'delivered':
      return ok(to, `a message was accepted by ${host} (${reply})`);
    case 'deferred':
      return warn(
        to,
        `a message was put off by ${host} (${reply})`,
        `it is tried again: postrider email show ${id}`,
      );
    case 'bounced':
    case 'complained':
    case 'suppressed':
    case 'canceled':
      return fail(
        to,
        `a message was refused by ${host} (${reply})`,
        "postrider explain 'REPLY' says what the reply means",
      );
    case 'held':
      return warn(to, 'the message is held', 'postrider queue list');
    default:
      return undefined;
  }
}
