/**
 * Prepares a delivery: it opens or composes the message and makes the header fields that depend on the time of sending,
 * `Date` and DKIM-Signature. Both use the message's own date, so that a second attempt after a crash sends the same
 * bytes. Later attempts use the same fields.
 */
import type { App } from '../app.ts';
import { bounceDomain } from '../domains/records.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import type { Links } from '../links/links.ts';
import { type DkimKey, signMessage } from '../mail/dkim/sign.ts';
import { dateField } from '../mail/message/headers.ts';
import { INSTALLATION_TENANT } from '../tenants/installation.ts';
import type { Delivery } from './claim.ts';
import {
  type ComposedMessages,
  type MessageBytes,
  type OpenMessage,
  openMessage,
  rememberComposed,
} from './contents/open.ts';
import { complaintFields, readerOf } from './contents/reader.ts';
import { bounceLocalPart, type ReturnAddressKey, returnAddressKeyOf } from './return-path.ts';
import type { SpooledMessage } from './store.ts';

type SigningApp = Pick<App, 'blobs' | 'clock' | 'config' | 'db' | 'htmlText' | 'crashPoint' | 'sealer'> & {
  signingKeys: SigningKeys;
  links: Links;
};

type PreparedMessage = {
  /**
   * Header fields before the message: `DKIM-Signature: …\r\nDate: …\r\n`. Mail of the sandbox domain, which has no key,
   * has the date alone, and forwarded mail has the fields that forwarding has added.
   */
  signature: string;
  content: MessageBytes;
  /** Returns the header of the content, with the empty line after it. */
  header: OpenMessage['header'];
  /**
   * The envelope sender; empty for the null sender. Unless the message has one of its own, the local part names the message and
   * the day of the attempt, and the domain is the one that was verified when the attempt was claimed, since receivers refuse a
   * domain that no longer exists.
   */
  returnPath: string;
};

/**
 * Prepares the message of a delivery. Calls with the same message object return the same promise, so that mail is signed
 * ahead of its session. Marketing mail has one recipient in each delivery.
 */
export type PrepareMessage = (delivery: Delivery) => Promise<PreparedMessage>;

/**
 * Returns the function that prepares messages. It remembers a result for as long as the message is in memory. `maxLargeBytes` bounds the
 * texts whose messages it keeps in files.
 */
export function createPreparer(signingApp: SigningApp, maxLargeBytes?: number): PrepareMessage {
  const app = { ...signingApp, returnAddressKey: returnAddressKeyOf(signingApp) };
  const prepared = new WeakMap<SpooledMessage, Promise<PreparedMessage>>();
  const composed = rememberComposed(maxLargeBytes);
  return (delivery) => {
    const { message } = delivery;
    const known = prepared.get(message);
    if (known !== undefined) return known;
    const preparing = prepareMessage(app, delivery, composed);
    prepared.set(message, preparing);
    return preparing;
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
  { message, recipients }: Delivery,
  composed: ComposedMessages,
): Promise<PreparedMessage> {
  const reader = readerOf(app, message, recipients);
  const complaints = complaintFields(app.returnAddressKey, message, recipients);
  const opening = { message, reader, complaintFields: complaints };
  const opened = await openMessage(app, opening, composed);
  const known = opened.isUnchanged ? message.signature : null;
  return {
    content: opened.bytes,
    header: opened.header,
    signature: known ?? (await sign(app, message, opened)),
    returnPath: returnPathOf(app, message),
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

async function sign(app: SigningApp, message: SpooledMessage, opened: OpenMessage): Promise<string> {
  if (message.traceFields !== null) return message.traceFields;
  const given = await opened.header();
  const date = isStored(message) && hasDate(given) ? '' : dateField(message.datedAt);
  const keys = await findKeys(app, message);
  if (keys.length === 0) return date;
  const header = Buffer.concat([Buffer.from(date), given]);
  const signed = { header, bodyHash: await opened.bodyHash() };
  return (await signMessage(signed, keys, Math.floor(message.datedAt / 1000))) + date;
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
