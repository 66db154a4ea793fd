/** A person with a mailbox on a daemon in this process, and a server elsewhere that sends mail to it. */
import assert from 'node:assert/strict';
import { connect } from 'node:tls';
import { createTransport } from 'nodemailer';
import type { Daemon } from '../../src/main.ts';
import { createClient } from '../mail/imap/fixture.ts';

const HOST = 'mx.postrider.example';

export type Person = { address: string; password: string };

/** Sends a message to port 25 of the daemon, which accepts it. */
export async function deliver(
  { smtpAddress }: Daemon,
  { from, to, subject }: { from: string; to: string; subject: string },
): Promise<void> {
  const port = Number(smtpAddress.split(':').at(-1));
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, name: 'mx.rcpt.example' });
  try {
    await transport.sendMail({ from, to, subject, text: 'Hello' });
  } finally {
    transport.close();
  }
}

/** Reads INBOX by IMAP: its UIDVALIDITY, and the subjects of its messages. */
export async function readInbox(daemon: Daemon, { address: user, password }: Person) {
  const [address = ''] = (await daemon.accessAddresses())?.imap ?? [];
  const port = Number(address.split(':').at(-1));
  const socket = connect({ host: '127.0.0.1', port, servername: HOST, rejectUnauthorized: false });
  const client = createClient(socket);
  try {
    await client.line();
    await client.ask(`LOGIN ${user} "${password}"`);
    const selected = (await client.ask('EXAMINE INBOX')).join('\n');
    const [, uidValidity = ''] = /UIDVALIDITY (\d+)/.exec(selected) ?? [];
    assert.notEqual(uidValidity, '', selected);
    const fetched = await client.ask('FETCH 1:* (BODY[HEADER.FIELDS (SUBJECT)])');
    const subjects = [...fetched.join('\n').matchAll(/^Subject: (.*?)\r?$/gm)].map(([, subject]) => subject);
    return { uidValidity: Number(uidValidity), subjects };
  } finally {
    socket.destroy();
  }
}
