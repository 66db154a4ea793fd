/**
 * Prepares a delivery: it opens or composes the message and makes the header fields that depend on the time of sending,
 * `Date` and DKIM-Signature. Both use the message's own date, so that a second attempt after a crash sends the same
 * bytes. Later attempts use the same fields.
 */
import type { App } from '../app.ts';
import { bounceDomain } from '../domains/records.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import type { Links } from '../links/links.ts';
import { type DkimKey, signatureFields } from '../mail/dkim/sign.ts';
import { dateField } from '../mail/message/headers.ts';
import { providerOfSite } from '../providers/provider-of-site.ts';
import { INSTALLATION_TENANT } from '../tenants/installation.ts';
import type { Claim, Delivery } from './claim.ts';
import type { HandedSources } from './contents/handed.ts';
import { MAX_CACHED_BYTES } from './contents/large.ts';
import { type ComposedMessages, type OpenMessage, openMessage, rememberComposed } from './contents/open.ts';
import type { Precedence } from './contents/precedence.ts';
import { complaintFields, readerOf } from './contents/reader.ts';
import type { PreparedMessage } from './prepared-message.ts';
import { bounceLocalPart, type ReturnAddressKey, returnAddressKeyOf } from './return-path.ts';
import type { SendingApp } from './sending-app.ts';
import { hostNamesOf } from './site-name.ts';
import type { SpooledMessage } from './store.ts';

type SigningApp = Pick<
  SendingApp,
  'blobs' | 'clock' | 'config' | 'db' | 'htmlText' | 'crashPoint' | 'sealer'
> & {
  signingKeys: SigningKeys;
  links: Links;
  /** Sources of mail that was just accepted; absent where mail is only shown. */
  handed?: Pick<HandedSources, 'take'>;
  /** Absent where mail is only shown. */
  precedence?: Pick<Precedence, 'wait'>;
};

/** A delivery, and the key of the site that it goes to; absent for one that is only shown. */
type Unprepared = Delivery & Partial<Pick<Claim, 'site'>>;

/**
 * The transaction that a message is signed for. A signature of DKIM (RFC 6376) covers neither sender nor recipients; one of DKIM2 would.
 */
type Transaction = { mailFrom: string; recipients: readonly string[]; site: string };

/** Prepares the message of a delivery. Marketing mail has one recipient in each delivery. */
export type PrepareMessage = (delivery: Unprepared) => Promise<PreparedMessage>;

/** Prepares the message of a claim. Further calls return the same promise, so that mail is signed ahead of its session. */
export type PrepareClaim = (claim: Unprepared & Partial<Pick<Claim, 'prepared'>>) => Promise<PreparedMessage>;

/** Returns the function that prepares messages. `maxLargeBytes` bounds the texts whose messages it keeps in files. */
export function createPreparer(signingApp: SigningApp, maxLargeBytes?: number): PrepareMessage {
  const app = { ...signingApp, returnAddressKey: returnAddressKeyOf(signingApp) };
  const composed = rememberComposed(maxLargeBytes);
  return (delivery) => prepareMessage(app, delivery, composed);
}

/** Returns the function that prepares the messages of claims. `threads` share the disk space for large texts. */
export function createClaimPreparer(signingApp: SigningApp, threads = 1): PrepareClaim {
  const prepare = createPreparer(signingApp, Math.floor(MAX_CACHED_BYTES / threads));
  return (claim) => {
    claim.prepared ??= prepare(claim);
    return claim.prepared;
  };
}

/**
 * Opens the message and signs it, unless an earlier attempt has signed the same bytes. A message that an earlier version
 * composed otherwise is signed anew, with the same date.
 * @throws DamagedBlobError when the stored message is damaged; AppError unavailable when its text cannot be generated
 * at the moment
 */
async function prepareMessage(
  app: SigningApp & { returnAddressKey: ReturnAddressKey },
  { message, recipients, site = '' }: Unprepared,
  composed: ComposedMessages,
): Promise<PreparedMessage> {
  const reader = readerOf(app, message, recipients);
  const complaints = complaintFields(app.returnAddressKey, message, recipients);
  const opening = { message, reader, complaintFields: complaints };
  const opened = await openMessage(app, opening, composed);
  const returnPath = returnPathOf(app, message);
  const transaction = { mailFrom: returnPath, recipients: recipients.map(({ address }) => address), site };
  return {
    content: opened.bytes,
    header: opened.header,
    ...(await sign(app, { message, opened }, transaction)),
    returnPath,
  };
}

function returnPathOf(
  { config, clock, returnAddressKey }: Pick<App, 'config' | 'clock'> & { returnAddressKey: ReturnAddressKey },
  { id: emailId, returnPath, returnPathHost }: SpooledMessage,
): string {
  if (returnPath !== null) return returnPath;
  const localPart = bounceLocalPart(returnAddressKey, { emailId, attemptedAt: clock.now() });
  return `${localPart}@${returnPathHost ?? bounceDomain(config)}`;
}

type Signed = Pick<PreparedMessage, 'signature' | 'secondSignature'>;

async function sign(
  app: SigningApp,
  { message, opened }: { message: SpooledMessage; opened: OpenMessage },
  transaction: Transaction,
): Promise<Signed> {
  if (message.traceFields !== null) return { signature: message.traceFields, secondSignature: '' };
  const known = opened.isUnchanged ? message.signature : null;
  const second = await findSecondKeys(app, message, transaction);
  if (known !== null && second.length === 0) return { signature: known, secondSignature: '' };
  const given = await opened.header();
  const date = isStored(message) && hasDate(given) ? '' : dateField(message.datedAt);
  const first = known === null ? await findKeys(app, message) : [];
  const keys = [...first, ...second];
  if (keys.length === 0) return { signature: date, secondSignature: '' };
  const signed = { header: Buffer.concat([Buffer.from(date), given]), bodyHash: await opened.bodyHash() };
  const fields = await signatureFields(signed, keys, Math.floor(message.datedAt / 1000));
  return {
    signature: known ?? fields.slice(0, first.length).join('') + date,
    secondSignature: fields.slice(first.length).join(''),
  };
}

/** Returns true for a message that came with its header, which may have a date of its own. */
function isStored({ fields, contentId }: SpooledMessage): boolean {
  return fields === null && contentId === null;
}

function hasDate(header: Buffer): boolean {
  return /(?:^|\r\n)date:/i.test(header.toString('latin1'));
}

/** Returns the keys that sign the message; none for mail of the sandbox domain. */
async function findKeys(
  { signingKeys }: SigningApp,
  { tenantId, domainId }: SpooledMessage,
): Promise<readonly DkimKey[]> {
  if (tenantId === INSTALLATION_TENANT) return [await signingKeys.ofInstallation()];
  if (domainId === null) return [];
  const keys = await signingKeys.find(domainId);
  if (keys.length === 0) throw new Error(`domain ${domainId} has no signing key`);
  return keys;
}

/**
 * Returns the key of the installation for mail of a domain to a provider that reads its signature (config/providers.yaml); no key for
 * other mail, which would cost a signature that nobody reads.
 */
async function findSecondKeys(
  { config, signingKeys }: SigningApp,
  { tenantId, domainId, mode }: SpooledMessage,
  { site }: Transaction,
): Promise<readonly DkimKey[]> {
  if (!config.delivery.secondSignature || !readsSecondSignature(site)) return [];
  if (tenantId === INSTALLATION_TENANT || domainId === null || mode !== 'live') return [];
  return [await signingKeys.ofInstallation()];
}

/** A relay passes mail on to anybody, and the key of its site names no hosts. */
function readsSecondSignature(site: string): boolean {
  return providerOfSite({ hosts: hostNamesOf(site), relay: null })?.secondSignature === true;
}
