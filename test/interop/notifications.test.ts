/**
 * Delivery status notifications (RFC 3461, RFC 3464) with Debian's Postfix between the writer and us: it passes on what the writer wants to
 * be told, and Python's email package reads what the writer is told.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { createClient } from '../mail/smtp/server/fixture.ts';
import { type MailboxServer, startMailboxServer } from './mailbox-server.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { until } from './until.ts';

const READER = `
import email, json, sys
message = email.message_from_bytes(sys.stdin.buffer.read())
parts = message.get_payload()
groups = [dict(group.items()) for group in parts[1].get_payload()]
print(json.dumps({
    'report': [message.get_content_type(), message.get_param('report-type'), message['Auto-Submitted']],
    'types': [part.get_content_type() for part in parts],
    'message': groups[0], 'recipients': groups[1:], 'returned': parts[2].as_string(),
}))
`;

type Report = {
  report: string[];
  types: string[];
  message: Record<string, string>;
  recipients: Record<string, string>[];
  returned: string;
};

let server: MailboxServer;
let postfix: Postfix;

before(async () => {
  server = await startMailboxServer();
  const { address: user, password, submission } = server;
  postfix = await startPostfix({
    domain: 'receiver.example',
    mailboxes: [],
    relayPort: submission.starttlsPort,
    relayLogin: { user, password },
  });
});
after(async () => {
  await postfix?.stop();
  await server?.stop();
});

/** Hands a message for the recipients, with their parameters, to Postfix. */
async function send(parameters: string, recipients: Readonly<Record<string, string>>): Promise<void> {
  const client = createClient(connect({ host: '127.0.0.1', port: postfix.port, noDelay: true }));
  await client.reply();
  const rcpts = Object.entries(recipients).map(
    ([to, wishes]) => `RCPT TO:<${to}@simulator.localhost>${wishes}`,
  );
  for (const line of ['EHLO writer.example', `MAIL FROM:<${server.address}>${parameters}`, ...rcpts, 'DATA'])
    assert.match(await client.ask(`${line}\r\n`), /^[23]/, line);
  const message = `From: ${server.address}\r\nTo: all@simulator.localhost\r\nSubject: Plan\r\n\r\nThe body\r\n`;
  assert.match(await client.ask(`${message}.\r\n`), /^250/);
  client.socket.destroy();
}

/** Returns the reports in the INBOX, once there are so many. */
async function readReports(count: number): Promise<Report[]> {
  const { client } = server;
  const messages = await until(`${count} reports are in the INBOX`, async () => {
    await client.mailboxOpen('INBOX', { readOnly: true });
    const found = await client.fetchAll('1:*', { source: true }).catch(() => []);
    return found.length >= count ? found : undefined;
  });
  return messages.map(({ source }) =>
    JSON.parse(execFileSync('python3', ['-c', READER], { input: source, encoding: 'utf8' })),
  );
}

test('Postfix passes on what the writer wants to be told, and the reports say just that', async () => {
  await send(' RET=FULL ENVID=QQ+2B314159', {
    bounced: ' NOTIFY=FAILURE ORCPT=rfc822;first+2Bbob@old.example',
    'bounced+silent': ' NOTIFY=NEVER',
    delivered: ' NOTIFY=SUCCESS',
    'delivered+quiet': ' NOTIFY=FAILURE,DELAY',
  });
  const reports = await readReports(2);
  const of = (action: string) =>
    reports.filter(({ recipients }) => recipients.some((one) => one['Action'] === action));
  assert.equal(reports.length, 2);
  const [failed] = of('failed');
  assert.deepEqual(failed?.report, ['multipart/report', 'delivery-status', 'auto-replied']);
  assert.deepEqual(failed.types, ['text/plain', 'message/delivery-status', 'message/rfc822']);
  assert.equal(failed.message['Original-Envelope-Id'], 'QQ+314159');
  assert.equal(failed.message['Reporting-MTA'], 'dns; localhost');
  const [recipient, ...others] = failed.recipients;
  assert.equal(others.length, 0);
  assert.equal(recipient?.['Original-Recipient'], 'rfc822;first+bob@old.example');
  assert.equal(recipient['Final-Recipient'], 'rfc822; bounced@simulator.localhost');
  assert.equal(recipient['Status'], '5.1.1');
  assert.match(recipient['Diagnostic-Code'] ?? '', /^smtp; 550 |^smtp; Simulated|^x-postrider; /);
  assert.match(failed.returned, /Subject: Plan[\s\S]*The body/);
  const [delivered] = of('delivered');
  assert.deepEqual(
    delivered?.recipients.map((one) => one['Final-Recipient']),
    ['rfc822; delivered@simulator.localhost'],
  );
  assert.doesNotMatch(delivered?.returned ?? '', /The body/);
});
