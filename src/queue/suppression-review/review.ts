/**
 * Finds suppressions that a bounce made and that would not be made now: the reply table says something else about the reply, or the
 * bounces that together suppressed are no longer stored.
 */
import type { App } from '../../app.ts';
import type { SuppressionRow } from '../../db/marketing-tables.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { addressKey } from '../../mail/address.ts';
import { hasEvidence } from '../../suppressions/evidence-store.ts';
import { listBounced } from '../../suppressions/store.ts';
import { findBounceAttempt } from '../attempts-store.ts';
import { explainReport } from '../outcome/explain.ts';
import { explainNotice } from '../outcome/notice.ts';
import type { Report } from '../outcome/outcome.ts';
import type { Meaning } from '../outcome/replies/meaning.ts';
import type { ReplyTable } from '../outcome/replies/table.ts';
import { listRecipients } from '../store.ts';

/** `row`: the row that the reply meets would not suppress. `evidence`: it would after repetition, of which nothing is stored. */
export type DoubtfulSuppression = {
  suppression: SuppressionRow;
  meaning: Meaning;
  reason: 'row' | 'evidence';
};

/** Number of suppressions that are read at once. */
const PAGE = 200;

/** Matches the descriptions of own facts that suppress (dispatch/route.ts). */
const OWN_FACT = /\((?:NXDOMAIN|null MX)\)$/;

/** Returns doubtful suppressions of all tenants or of one, the oldest first, at most `limit`. */
export async function listDoubtful(
  { db }: Pick<App, 'db'>,
  table: ReplyTable,
  { tenantId, limit }: { tenantId: SuppressionRow['tenantId'] | undefined; limit: number },
): Promise<DoubtfulSuppression[]> {
  const doubtful: DoubtfulSuppression[] = [];
  for (let after: SuppressionRow['id'] | undefined; doubtful.length < limit; ) {
    const page = await listBounced(db.read, { tenantId, after, limit: PAGE });
    for (const suppression of page) {
      const found = await doubt(db, table, suppression);
      if (found && doubtful.length < limit) doubtful.push(found);
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE) break;
  }
  return doubtful;
}

async function doubt(
  db: App['db'],
  table: ReplyTable,
  suppression: SuppressionRow,
): Promise<DoubtfulSuppression | undefined> {
  const meaning = await explainSuppression(db, table, suppression);
  if (meaning === undefined || meaning.suppresses === 'now') return undefined;
  if (meaning.suppresses === 'never') return { suppression, meaning, reason: 'row' };
  const { tenantId, email: address } = suppression;
  if (await hasEvidence(db.read, { tenantId, address })) return undefined;
  return { suppression, meaning, reason: 'evidence' };
}

/** Returns what the bounce means now; undefined when an own fact suppressed the address. */
async function explainSuppression(
  db: App['db'],
  table: ReplyTable,
  { email, sourceEmailId, diagnostic }: SuppressionRow,
): Promise<Meaning | undefined> {
  if (OWN_FACT.test(diagnostic ?? '')) return undefined;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const recipients = sourceEmailId === null ? [] : await listRecipients(db.read, sourceEmailId);
  const recipient = recipients.find(({ address }) => addressKey(address) === email);
  const attempt = recipient && (await findBounceAttempt(db.read, recipient.id));
  if (!attempt) return explainNotice(table, noticeOf(recipient, diagnostic), domain).meaning;
  const { phase, mx, address, tls, smtpCode, enhancedCode, reply } = attempt;
  if (phase === 'dns') return undefined;
  const report = { phase, mx, address, tls, smtpCode, enhancedCode, text: reply ?? '' } as Report;
  return explainReport(table, report, domain);
}

/** A bounce that came by mail has no attempt, and the attempts of old mail are deleted: only the reply is left. */
function noticeOf(recipient: RecipientRow | undefined, diagnosticCode: string | null) {
  return {
    form: 'structured',
    action: 'failed',
    status: recipient?.enhancedCode ?? null,
    diagnosticCode,
    explanation: null,
    finalRecipient: null,
    originalRecipient: null,
    remoteMta: null,
    willRetryUntil: null,
  } as const;
}
