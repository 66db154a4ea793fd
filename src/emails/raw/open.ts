/**
 * Opens the message of an email as one of its recipients gets it: signed, with its date, and with the links of its reader. Mail that
 * was sent is composed again from what is stored, in the same bytes, because only its texts and its files are kept.
 */
import type { App } from '../../app.ts';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { createSigningKeys, type SigningKeys } from '../../domains/signing-key.ts';
import type { Links } from '../../links/links.ts';
import { addressKey } from '../../mail/address.ts';
import type { OpenMessage } from '../../queue/contents/open.ts';
import { createPreparer, type PrepareMessage } from '../../queue/prepare.ts';
import { findMessage, listRecipients, type SpooledMessage } from '../../queue/store.ts';
import { AppError, invalid, notFound, orNotFound } from '../../system/errors.ts';
import type { EmailHead } from '../store.ts';

/** A message with everything that a server receives after DATA. */
type RawMessage = {
  sizeBytes: number;
  /** Returns the header with the empty line after it. */
  header(): Promise<Buffer>;
  chunks(): AsyncIterable<Uint8Array>;
};

export type RawMessages = {
  /**
   * Opens the message for the recipient with this address, or for the first recipient.
   * @throws AppError invalid_state when its content is no longer kept or is damaged; validation_error for an address that is no
   * recipient; unavailable when its text cannot be generated at the moment
   */
  open(email: EmailHead, address: string | undefined): Promise<RawMessage>;
};

type RawApp = App & { links: Links };

/** Maximum size of the texts whose messages are kept in files for those who ask again. Deliveries have more, and need it sooner. */
const MAX_LARGE_BYTES = 64 * 1024 * 1024;

/** Returns the function that opens messages. It composes large ones as deliveries do, in files and few at a time. */
export function createRawMessages(app: RawApp): RawMessages {
  const signingKeys = createSigningKeys(app);
  const prepare = createPreparer({ ...app, signingKeys }, MAX_LARGE_BYTES);
  return {
    async open(email, address) {
      if (email.contentDeletedAt !== null)
        throw new AppError('invalid_state', 'The content of the email is no longer kept');
      const message = orNotFound(await findMessage(app.db.read, email.id), 'Email');
      const recipient = recipientOf(await listRecipients(app.db.read, email.id), address);
      const delivery = { message: await signable(signingKeys, message), recipients: [recipient] };
      return openDelivery(app, prepare, delivery);
    },
  };
}

function recipientOf(recipients: readonly RecipientRow[], address: string | undefined): RecipientRow {
  const key = address === undefined ? undefined : addressKey(address);
  const found = recipients.find((one) => key === undefined || addressKey(one.address) === key);
  if (found) return found;
  if (address === undefined) throw notFound('Email');
  throw invalid('recipient', '`recipient` must be one of the recipients of the email');
}

/** Returns the message without its domain when the domain is gone together with its keys: it is then shown without a signature. */
async function signable(signingKeys: SigningKeys, message: SpooledMessage): Promise<SpooledMessage> {
  const { domainId } = message;
  const isSigned = domainId === null || (await signingKeys.find(domainId)).length > 0;
  return isSigned ? message : { ...message, domainId: null };
}

type Delivery = Parameters<PrepareMessage>[0];

async function openDelivery(
  { log }: Pick<App, 'log'>,
  prepare: PrepareMessage,
  delivery: Delivery,
): Promise<RawMessage> {
  try {
    const { signature, content, header } = await prepare(delivery);
    const added = Buffer.from(signature);
    return {
      sizeBytes: added.length + content.sizeBytes,
      header: async () => Buffer.concat([added, await header()]),
      chunks: () => joined(added, content),
    };
  } catch (error) {
    if (!(error instanceof DamagedBlobError)) throw error;
    const { location, message: damage } = error;
    log.error({ emailId: delivery.message.id, location, damage }, 'a stored message is damaged');
    throw new AppError('invalid_state', 'The stored content of the email is damaged', { cause: error });
  }
}

async function* joined(
  added: Buffer,
  content: Pick<OpenMessage['bytes'], 'chunks'>,
): AsyncGenerator<Uint8Array> {
  yield added;
  yield* content.chunks();
}
