/** A daemon with one mailbox, for tests of mail programs; mail is delivered by SMTP, and a second client looks into the folders. */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { until } from './until.ts';

/** The name in the certificate that the daemon makes for itself. */
export const HOST = 'localhost';

export type MailboxServer = {
  daemon: DaemonProcess;
  address: string;
  password: string;
  imapPort: number;
  /** Ports at which people send: with TLS from the first byte, and with STARTTLS. */
  submission: { tlsPort: number; starttlsPort: number };
  pop3Port: number;
  /** A directory for what mail programs write. */
  home: string;
  /** File of the certificate of the daemon, in PEM. */
  certificate: string;
  /** Delivers a message by SMTP and resolves when it is in INBOX. `lines` are its header fields and its text. */
  deliver(subject: string, lines?: string): Promise<void>;
  /** Imports so many messages, `Letter 0` and so on, into a folder. */
  importLetters(folder: string, count: number): Promise<void>;
  /** Returns the flags of the messages of a folder, sorted, by their subjects. */
  flagsIn(folder: string): Promise<Record<string, string[]>>;
  /** A client of the same mailbox. */
  client: ImapFlow;
  stop(): Promise<void>;
};

/** Starts a daemon with a mailbox for `reader@sandbox.localhost`, or at the sandbox of another host name. */
export async function startMailboxServer(hostname = HOST): Promise<MailboxServer> {
  const [home, address] = [temporaryDirectory('mailbox'), `reader@sandbox.${hostname}`];
  const submission = { tlsPort: await freePort(), starttlsPort: await freePort() };
  const [imapPort, pop3Port, smtpPort] = [await freePort(), await freePort(), await freePort()];
  const env = {
    POSTRIDER_IMAP_PORT: String(imapPort),
    POSTRIDER_POP3_PORT: String(pop3Port),
    POSTRIDER_MANAGESIEVE_PORT: '0',
    POSTRIDER_SMTP_PORT: String(smtpPort),
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_TLS_PORT: String(submission.tlsPort),
    POSTRIDER_SUBMISSION_PORT: String(submission.starttlsPort),
    POSTRIDER_HOSTNAME: hostname,
  };
  const daemon = await startDaemonProcess({ dataDir: join(home, 'data'), env });
  const { password } = (await daemon.cli(['mailbox', 'create', address])) as { password: string };
  const certificate = join(home, 'certificate.pem');
  await copyFile(join(daemon.dataDir, 'tls', 'self-signed', 'ec.pem'), certificate);
  // The listener starts with the first mailbox.
  const client = await until('the daemon listens for IMAP', () => connect({ imapPort, address, password }));
  const smtp = createTransport({ host: HOST, port: smtpPort, tls: { rejectUnauthorized: false } });
  const flagsIn = (folder: string) => readFlags(client, folder);
  return {
    daemon,
    address,
    password,
    imapPort,
    submission,
    pop3Port,
    home,
    certificate,
    client,
    flagsIn,
    async deliver(subject, lines = `\n${subject} is here.`) {
      const id = `Message-ID: <${Buffer.from(subject).toString('hex')}@author.example>\nDate: ${new Date().toUTCString()}`;
      const raw = `From: Ann <ann@author.example>\nTo: ${address}\nSubject: ${subject}\n${id}\n${lines}\n`;
      await smtp.sendMail({ envelope: { from: 'ann@author.example', to: address }, raw });
      await until(`${subject} has arrived`, async () => subject in (await flagsIn('INBOX')));
    },
    async importLetters(folder, count) {
      const mbox = join(home, 'letters.mbox');
      const letters = Array.from({ length: count }, (_, number) => letter(number));
      await writeFile(mbox, letters.join(''));
      await daemon.cli(['mailbox', 'import', address, mbox, '--folder', folder]);
    },
    async stop() {
      smtp.close();
      await client.logout();
      await daemon.stop();
    },
  };
}

function letter(number: number): string {
  const header = `From: Ann <ann@author.example>\nMessage-ID: <${number}@author.example>\nSubject: Letter ${number}\n`;
  return `From ann@author.example Fri Nov 21 09:05:00 2025\n${header}\nLine\n\n`;
}

type Login = { imapPort: number; address: string; password: string };

async function connect({ imapPort, address, password }: Login): Promise<ImapFlow | undefined> {
  const client = new ImapFlow({
    host: HOST,
    port: imapPort,
    secure: true,
    auth: { user: address, pass: password },
    tls: { rejectUnauthorized: false },
    logger: false,
    disableAutoIdle: true,
  });
  return client.connect().then(
    () => client,
    () => undefined,
  );
}

async function readFlags(client: ImapFlow, folder: string): Promise<Record<string, string[]>> {
  await client.mailboxOpen(folder, { readOnly: true });
  const flags: Record<string, string[]> = {};
  for (const message of await client.fetchAll('1:*', { envelope: true, flags: true }))
    flags[message.envelope?.subject ?? ''] = [...(message.flags ?? [])]
      .filter((flag) => flag !== '\\Recent')
      .sort();
  return flags;
}
