/** Writes the settings of a mailbox for the person who sets up a mail program. */
import type { MailSettings } from '../mailboxes/discovery/settings.ts';
import { formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';

const NAMES: Readonly<Record<MailSettings['services'][number]['protocol'], string>> = {
  imap: 'IMAP',
  pop3: 'POP3',
  smtp: 'SMTP',
  sieve: 'ManageSieve',
};

/** Returns the settings as a table, and the link for Apple devices as a QR code. */
export async function formatSettings(
  { username, host, services, profileUrl }: MailSettings,
  { interactive }: Pick<Terminal, 'interactive'>,
): Promise<string> {
  const rows = services.map(({ protocol, security, port }) => [
    NAMES[protocol],
    host,
    String(port),
    security === 'tls' ? 'TLS' : 'STARTTLS',
    username,
  ]);
  // This import is deferred, because no other command draws anything.
  const { default: qrcode } = await import('qrcode');
  // Terminals with dark backgrounds need the colours to show a code that cameras can read.
  const code = await qrcode.toString(profileUrl, { type: interactive ? 'terminal' : 'utf8', small: true });
  return [
    formatTable(['service', 'server', 'port', 'encryption', 'user name'], rows),
    `On an iPhone, iPad or Mac, open ${profileUrl} or scan this code:`,
    code.trimEnd(),
  ].join('\n\n');
}
