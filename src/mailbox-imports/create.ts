/** Starts an import of mail from another server. */
import { isIP } from 'node:net';
import type { App } from '../app.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import { findName } from '../domains/name.ts';
import { getMailbox } from '../mailboxes/store.ts';
import { isHostName } from '../system/dns.ts';
import { AppError, invalid } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { NO_COUNTS } from './counts.ts';
import type { NewImport } from './schemas.ts';
import { insertImport } from './store.ts';

type SealedFor = Pick<MailboxImportRow, 'tenantId' | 'id'>;

/** Ports of IMAP (RFC 8314 section 7, RFC 9051 section 2.1). */
const PORTS = { tls: 993, starttls: 143 } as const;

/**
 * The first port that any program may listen on. Below it only the ports of IMAP are connected to, so that imports
 * do not find out which other services a host has.
 */
const FIRST_FREE_PORT = 1024;

/**
 * Starts an import into a mailbox. Its first run begins as soon as the limits of imports allow it.
 * @throws AppError not_found, validation_error; invalid_state while the mailbox is suspended
 */
export async function createImport(
  app: Pick<App, 'db' | 'clock' | 'sealer'>,
  tenantId: MailboxImportRow['tenantId'],
  { mailboxId, wanted }: { mailboxId: string; wanted: NewImport },
): Promise<MailboxImportRow> {
  const host = readHost(wanted.host);
  const mailbox = await getMailbox(app.db.read, tenantId, mailboxId);
  if (mailbox.status === 'suspended') throw new AppError('invalid_state', 'The mailbox is suspended');
  const now = app.clock.now();
  const id = newId('mim', now);
  const { security = 'tls', user, password, port = PORTS[security] } = wanted;
  requirePort(port);
  const row: MailboxImportRow = {
    id,
    tenantId,
    mailboxId: mailbox.id,
    host,
    port,
    security,
    user,
    password: sealPassword(app, { tenantId, id }, password),
    status: 'queued',
    reason: null,
    error: null,
    progress: JSON.stringify(NO_COUNTS),
    createdAt: now,
    startedAt: null,
    finishedAt: null,
  };
  await app.db.commit(insertImport, row);
  return row;
}

/** Returns the name in lower case and A-labels. Certificates are for names, so an address is none. */
function readHost(text: string): string {
  const name = findName(text);
  if (name !== undefined && isIP(name) === 0 && isHostName(name)) return name;
  throw invalid('host', '`host` must be the name that the certificate of the server contains');
}

function requirePort(port: number): void {
  if (port >= FIRST_FREE_PORT || port === PORTS.tls || port === PORTS.starttls) return;
  throw invalid('port', '`port` must be 993, 143 or at least 1024');
}

/** Returns a password as it is stored. */
function sealPassword({ sealer }: Pick<App, 'sealer'>, { tenantId, id }: SealedFor, text: string): string {
  return sealer.seal(text, [tenantId, id]);
}

/** Returns the password of an import that has not ended. */
export function openPassword(
  { sealer }: Pick<App, 'sealer'>,
  { tenantId, id, password }: SealedFor & Pick<MailboxImportRow, 'password'>,
): string {
  if (password === null) throw new Error('an import that has ended has no password');
  return sealer.open(password, [tenantId, id]);
}
