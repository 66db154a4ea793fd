/**
 * Prepares a delivery: it opens the stored message and makes the header fields that depend on the time of sending,
 * `Date` and DKIM-Signature. Both use the message's own date, so that a second attempt after a crash sends the same
 * bytes. They are kept for later attempts (decisions.md 25).
 */
import type { App } from '../app.ts';
import type { BlobContent } from '../blobs/blobs.ts';
import { bounceDomain } from '../domains/records.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import { signMessage } from '../mail/dkim/sign.ts';
import { dateField } from '../mail/message/headers.ts';
import type { SpooledMessage } from './store.ts';

type SigningApp = Pick<App, 'blobs' | 'config'> & { signingKeys: SigningKeys };

export type PreparedMessage = {
  /**
   * Header fields before the stored message: `DKIM-Signature: …\r\nDate: …\r\n`. Mail of the sandbox domain, which
   * has no key, has the date alone.
   */
  signature: string;
  content: BlobContent;
  /**
   * The envelope sender. Its local part is the same at every attempt, so bounces of every attempt find the message. Its
   * domain is the one that was verified when the attempt was claimed, since receivers refuse a domain that no longer
   * exists.
   */
  returnPath: string;
};

/**
 * Opens the message and signs it, unless an earlier attempt has signed it.
 * @throws DamagedBlobError when the stored message is damaged
 */
export async function prepareMessage(app: SigningApp, message: SpooledMessage): Promise<PreparedMessage> {
  const content = await app.blobs.open(message.blobId);
  return {
    content,
    signature: message.signature ?? (await sign(app, message, content)),
    returnPath: `b+${message.returnToken}@${message.returnPathHost ?? bounceDomain(app.config)}`,
  };
}

async function sign(app: SigningApp, message: SpooledMessage, content: BlobContent): Promise<string> {
  const date = dateField(message.datedAt);
  if (message.domainId === null) return date;
  const key = await app.signingKeys.find(message.domainId);
  if (!key) throw new Error(`domain ${message.domainId} has no signing key`);
  const header = Buffer.concat([Buffer.from(date), await content.head(message.headerBytes)]);
  const signed = { header, bodyHash: message.bodyHash };
  return (await signMessage(signed, key, Math.floor(message.datedAt / 1000))) + date;
}
