/** Time from the 250 of SMTP, with which a message is on disk, to the notification of a client in IDLE. */
import { startDnsServer } from '../../support/dns-server.ts';
import { PLAIN_AUTHOR } from '../inbound-messages.ts';
import { percentile } from '../percentile.ts';
import type { Group, Measure } from '../row.ts';
import { type Conversation, converse } from '../smtp-conversation.ts';
import type { Workspace } from '../workspace.ts';
import { ImapConnection, type ImapUser } from './client.ts';
import { sampleMessages } from './messages.ts';
import { startPostriderImap } from './postrider-server.ts';

const MESSAGES = 50;
/** The author's domain exists, and has no policy. */
const ZONE = 'plain.test 300 A 192.0.2.26';

export const imapPush: Group = {
  name: 'imap-push',
  async prepare(workspace) {
    return {
      rows: [
        {
          ...{ name: 'Postrider: 250 of SMTP to push, p95', unit: 'ms', aim: '<= 50 ms' },
          measure: () => measurePush(workspace),
        },
      ],
    };
  },
};

async function measurePush(workspace: Workspace): Promise<Measure> {
  await using dns = await startDnsServer(ZONE);
  await using server = await startPostriderImap(workspace, 1, { POSTRIDER_DNS_SERVERS: dns.address });
  const [user] = server.users;
  if (!user) throw new Error('the server has no users');
  const reader = await ImapConnection.login(server.port, user);
  await reader.run('SELECT INBOX');
  const client = converse({ port: server.smtpPort });
  await expect(client.reply(), '220');
  await expect(client.say('EHLO client.test'), '250');
  const times: number[] = [];
  for (const message of sampleMessages(MESSAGES)) times.push(await push({ client, reader, user, message }));
  client.socket.destroy();
  reader.close();
  const of = (share: number) => percentile(times, share);
  return { figure: of(0.95), p50Ms: of(0.5), p99Ms: of(0.99) };
}

type Push = { client: Conversation; reader: ImapConnection; user: ImapUser; message: Buffer };

/** Returns the time from the 250 to the notification, in milliseconds. */
async function push({ client, reader, user, message }: Push): Promise<number> {
  await reader.idle();
  const notified = reader.untilText(' EXISTS');
  await expect(client.say(`MAIL FROM:<${PLAIN_AUTHOR}>`), '250');
  await expect(client.say(`RCPT TO:<${user.username}>`), '250');
  await expect(client.say('DATA'), '354');
  client.socket.write(message.toString('latin1').replace(/^\./gm, '..'), 'latin1');
  await expect(client.say('\r\n.'), '250');
  const acceptedAt = performance.now();
  const ms = Math.max(0, (await notified) - acceptedAt);
  await reader.done();
  return ms;
}

async function expect(replied: Promise<string>, code: string): Promise<void> {
  const reply = await replied;
  if (!reply.startsWith(code)) throw new Error(`the server answered ${reply}`);
}
