/**
 * The bytes a delivery sends: the stored message and its DKIM field. The field is made with the message's own time, so
 * that a second attempt after a crash sends the same bytes, and it is kept for the attempts after this one.
 */
import type { App } from '../app.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import { signMessage } from '../mail/dkim/sign.ts';
import type { SpooledMessage } from './store.ts';

type SigningApp = Pick<App, 'blobs' | 'config'> & { signingKeys: SigningKeys };

export type PreparedMessage = {
  /** `DKIM-Signature: …\r\n`, or null when the sender's domain has no key (the sandbox). */
  signature: string | null;
  bytes: Buffer;
  returnPath: string;
};

export async function prepareMessage(app: SigningApp, message: SpooledMessage): Promise<PreparedMessage> {
  const bytes = await app.blobs.read(message.blobId);
  return {
    bytes,
    signature: message.signature ?? (await sign(app, message, bytes)),
    returnPath: `b+${message.returnToken}@bounce.${app.config.hostname}`,
  };
}

async function sign(app: SigningApp, message: SpooledMessage, bytes: Buffer): Promise<string | null> {
  if (message.domainId === null) return null;
  const key = await app.signingKeys.find(message.domainId);
  if (!key) throw new Error(`domain ${message.domainId} has no signing key`);
  return signMessage(bytes, key, Math.floor(message.createdAt / 1000));
}
