/** Warns the author of a broadcast of what may go wrong although it can be sent. */

import type { App } from '../../app.ts';
import { TEXT_FIELD_NAMES } from '../../audiences/contacts/text-fields.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { isSandboxDomain } from '../../domains/sender.ts';
import { findDomainByName } from '../../domains/sending-store.ts';
import { getDomain } from '../../domains/store.ts';
import { meantAmong } from '../../http/json/near-misses.ts';
import type { OriginCheck } from '../../links/check-origin.ts';
import type { Mailbox } from '../../mail/address.ts';
import { addressKey } from '../../mail/address.ts';
import { UNSUBSCRIBE_URL } from '../../queue/contents/reader.ts';
import { findUnknownTags, usesIn } from '../../templates/tags.ts';
import { findPropertyKeys, hasTransactionalMail } from './store.ts';

/** Names of the warnings, for programs. */
export const WARNING_CODES = [
  'html_too_large',
  'no_topic',
  'shared_sender',
  'no_dmarc_alignment',
  'links_unreachable',
  'unknown_tags',
  'unknown_properties',
] as const;

export type Warning = { code: (typeof WARNING_CODES)[number]; message: string };

/**
 * Size of the HTML in bytes from which Gmail may show only its beginning. It clips at 102 KB, and hides the link to
 * unsubscribe, which most mail has at its end.
 */
const MAX_SHOWN_HTML_BYTES = 100_000;

type Checked = {
  broadcast: BroadcastRow;
  sender: Mailbox;
  htmlBytes: number;
  /** Subject, HTML and text with their tags. */
  texts: readonly string[];
};

/** Returns the warnings about a broadcast. `htmlBytes` is the size of the HTML that a contact gets. */
export async function findWarnings(
  app: App & { originCheck: OriginCheck },
  checked: Checked,
): Promise<Warning[]> {
  const found = await Promise.all([
    warnOfSize(checked),
    warnOfTopic(checked),
    warnOfSender(app, checked),
    warnOfDmarc(app, checked),
    warnOfOrigin(app),
    warnOfTags(checked),
    warnOfProperties(app, checked),
  ]);
  return found.filter((warning) => warning !== undefined);
}

function warnOfSize({ htmlBytes }: Checked): Warning | undefined {
  if (htmlBytes <= MAX_SHOWN_HTML_BYTES) return undefined;
  const message = `The HTML has ${htmlBytes} bytes. Gmail shows only the first 102 KB, and hides a link to unsubscribe that comes later`;
  return { code: 'html_too_large', message };
}

/** Tags of other products stay in the mail as they are written. */
function warnOfTags({ texts }: Checked): Warning | undefined {
  const tags = new Set(texts.flatMap(findUnknownTags));
  if (tags.size === 0) return undefined;
  const message = `These tags are not known and are sent as they stand: ${[...tags].join(', ')}. There are {{name}}, {{name|fallback}}, {{url name}}, {{raw name}} and {{#if name}}…{{else}}…{{/if}}`;
  return { code: 'unknown_tags', message };
}

/** Names that every contact has, and the link to unsubscribe. */
const FIELDS = ['email', ...TEXT_FIELD_NAMES, UNSUBSCRIBE_URL] as const;
/** Maximum number of names that a warning lists. */
const MAX_NAMES = 10;

/** A misspelled name has no value for any reader. */
async function warnOfProperties(
  { db }: App,
  { broadcast: { tenantId, audienceId }, texts }: Checked,
): Promise<Warning | undefined> {
  const names = new Set(texts.flatMap((text) => usesIn([undefined, text]).map(({ name }) => name)));
  for (const field of FIELDS) names.delete(field);
  if (names.size === 0) return undefined;
  const keys = await db.query(findPropertyKeys, { tenantId, audienceId });
  if (!keys) return undefined;
  for (const key of keys) names.delete(key);
  if (names.size === 0) return undefined;
  const known = [...FIELDS, ...keys];
  const meantBy = meantAmong(known);
  const shown = [...names].slice(0, MAX_NAMES).map((name) => {
    const meant = meantBy(name);
    return meant === undefined ? `\`${name}\`` : `\`${name}\` (did you mean \`${meant}\`?)`;
  });
  const message = `None of the newest contacts has a value for ${shown.join(', ')}. Contacts have ${known.slice(0, 2 * MAX_NAMES).join(', ')}`;
  return { code: 'unknown_properties', message };
}

function warnOfTopic({ broadcast }: Checked): Warning | undefined {
  if (broadcast.topicId !== null) return undefined;
  const message =
    'Without `topicId`, readers can only unsubscribe from all marketing mail, not from this kind alone';
  return { code: 'no_topic', message };
}

async function warnOfSender(
  { db, clock }: App,
  { broadcast: { tenantId, mode }, sender }: Checked,
): Promise<Warning | undefined> {
  const asked = { tenantId, mode, fromAddress: addressKey(sender.address), now: clock.now() };
  if (!(await db.query(hasTransactionalMail, asked))) return undefined;
  const message = `${sender.address} has sent transactional mail in the last 30 days. Complaints about the broadcast also harm that mail; use another address, or better another subdomain`;
  return { code: 'shared_sender', message };
}

/**
 * DMARC passes when a signature or the envelope sender of the same domain passes. Mail is signed with the key of
 * the sender's own domain, so alignment depends on what that domain publishes.
 */
async function warnOfDmarc(
  { db, config }: App,
  { broadcast: { tenantId }, sender: { domain } }: Checked,
): Promise<Warning | undefined> {
  const warning = (message: string): Warning => ({ code: 'no_dmarc_alignment', message });
  if (isSandboxDomain(config, domain))
    return warning(`Mail from ${domain} is not signed, so DMARC cannot pass; use a domain of your own`);
  const found = await findDomainByName(db.read, tenantId, domain);
  if (!found) return undefined;
  const { findings } = await getDomain(db.read, tenantId, found.id);
  if (findings.DKIM.status !== 'verified' && findings.RETURN_PATH.status !== 'verified')
    return warning(
      `The DKIM record of ${domain} was not found at the last check, so DMARC does not pass; see GET /v1/domains/${found.id}`,
    );
  if (findings.DMARC.status !== 'verified')
    return warning(
      `The DMARC record of ${domain} was not found at the last check, and large receivers ask for one; see GET /v1/domains/${found.id}`,
    );
  return undefined;
}

async function warnOfOrigin({ originCheck }: { originCheck: OriginCheck }): Promise<Warning | undefined> {
  const { origin } = originCheck;
  const state = await originCheck.check();
  const warning = (message: string): Warning => ({ code: 'links_unreachable', message });
  switch (state.kind) {
    case 'answers':
      return undefined;
    case 'local':
      return warning(`Links lead to ${origin}, which works on this machine only; set \`hostname\``);
    case 'private':
      return warning(`Links lead to ${origin}, which has no public address, so readers cannot unsubscribe`);
    case 'silent':
      return warning(
        `Links lead to ${origin}, which does not answer (${state.reason}), so readers cannot unsubscribe`,
      );
  }
}
