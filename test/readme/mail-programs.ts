/** Stands in for programs that send and read mail, as far as the documents use them. */
import { once } from 'node:events';
import { connect } from 'node:tls';
import { createTransport } from 'nodemailer';
import { createClient } from '../mail/imap/fixture.ts';
import type { Answer } from './stand-ins.ts';

type Sent = { from: string; to: string; raw: Buffer };

/** Sends a message, as `curl smtp://…` does. */
export async function deliver({ hostname, port }: URL, { from, to, raw }: Sent): Promise<Answer> {
  const transport = createTransport({
    host: hostname,
    port: Number(port),
    tls: { rejectUnauthorized: false },
  });
  try {
    await transport.sendMail({ envelope: { from, to }, raw });
    return { output: '', errors: '', code: 0 };
  } finally {
    transport.close();
  }
}

/** Prints a message of INBOX, as `curl imaps://…/INBOX;UID=1` does. `user` is a name and a password. */
export async function fetchMessage({ hostname, port, pathname }: URL, user: string): Promise<Answer> {
  const [, uid] = /^\/INBOX;UID=(\d+)$/.exec(pathname) ?? [];
  const colon = user.indexOf(':');
  const client = createClient(connect({ host: hostname, port: Number(port), rejectUnauthorized: false }));
  try {
    await once(client.socket, 'secureConnect');
    await client.line();
    await client.ask(`LOGIN ${user.slice(0, colon)} "${user.slice(colon + 1)}"`);
    await client.ask('EXAMINE INBOX');
    const answers = await client.ask(`UID FETCH ${uid} BODY.PEEK[]`);
    const message = answers.slice(0, -1).join('\r\n');
    return message === ''
      ? { output: '', errors: 'no message\n', code: 78 }
      : { output: message, errors: '', code: 0 };
  } finally {
    client.socket.destroy();
  }
}
