/** Removes copies from a plan that would exceed the quota of the mailbox. */
import { readWaitingBytes } from '../store.ts';
import type { DecidingApp, ScriptedMessage } from './delivery.ts';
import type { Filing, Plan } from './plan.ts';

/**
 * Returns the plan with the copies that fit into the quota. The message itself was compared with the quota before it was accepted, so
 * its first copy is always stored, with its own header where the edited one is too large.
 */
export async function withinQuota(
  { db }: Pick<DecidingApp, 'db'>,
  { mailbox, header, content }: Pick<ScriptedMessage, 'mailbox' | 'header' | 'content'>,
  plan: Plan,
): Promise<Plan> {
  const [first, ...others] = plan.filings;
  if (!first || (others.length === 0 && first.header === null)) return plan;
  // The message itself is among those that wait.
  let freeBytes = mailbox.quotaBytes - mailbox.usedBytes - (await readWaitingBytes(db.read, mailbox.id));
  const growthOf = (filing: Filing) =>
    filing.header === null ? 0 : Buffer.byteLength(filing.header, 'base64') - header.length;
  const fits = (bytes: number) => {
    if (bytes > Math.max(freeBytes, 0)) return false;
    freeBytes -= bytes;
    return true;
  };
  const kept = fits(growthOf(first)) ? first : { ...first, header: null };
  const copies = others.filter((filing) => fits(content.sizeBytes + growthOf(filing)));
  return { ...plan, filings: [kept, ...copies] };
}
