/** Makes one post to a route: it parses the message, builds the body, and posts it signed. */
import { type BlobContent, openBlob } from '../../blobs/blobs.ts';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import { blobFolder } from '../../blobs/owner.ts';
import { findBlob } from '../../blobs/store.ts';
import type { InboundRouteRow, ReceivedMessageRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import { findReceived, listReceivedRecipients } from '../../inbound/store.ts';
import { type MessageParser, MessagesWaitError } from '../../mail/message/parse/parser.ts';
import { AppError } from '../../system/errors.ts';
import type { PartApp } from '../../thread-app.ts';
import type { Unposted } from '../../webhooks/posting/kind.ts';
import { type PostOutcome, postSigned } from '../../webhooks/posting/post.ts';
import { keysOf } from '../../webhooks/posting/signature.ts';
import { buildBody, MAX_BODY_BYTES } from './body.ts';
import type { DownloadLinks } from './links.ts';
import type { PostMemory } from './memory.ts';

/** One post of a message to a route. */
type Posted = Pick<ReceivedTaskRow, 'id' | 'messageId' | 'targetId'>;

export type RoutePost = {
  route: Pick<InboundRouteRow, 'id' | 'tenantId' | 'destination' | 'secretSealed'>;
  /** Id of the task, which all attempts share. */
  deliveryId: ReceivedTaskRow['id'];
  body: string | Uint8Array;
};

export type DeliveringApp = PartApp & { parser: MessageParser; links: DownloadLinks; memory: PostMemory };

/** Posts a body to a route. It never throws for an error of the receiver. */
export function postToRoute(app: PartApp, { route, deliveryId, body }: RoutePost): Promise<PostOutcome> {
  const { id, tenantId, destination, secretSealed } = route;
  return postSigned(app, {
    url: destination,
    keys: keysOf(route, () => [app.sealer.open(secretSealed, [tenantId, id])]),
    deliveryId,
    messageId: deliveryId,
    headers: {},
    body,
  });
}

/** Posts the message of a task to its route. */
export async function deliverToRoute(
  app: DeliveringApp,
  { task, route }: { task: Posted; route: InboundRouteRow },
): Promise<PostOutcome | Unposted> {
  const message = await findReceived(app.db.read, task.messageId);
  if (!message || message.blobId === null)
    return { kind: 'unpostable', error: 'The message is no longer kept' };
  using hold = await app.memory.reserve(route.tenantId, message.sizeBytes);
  if (!hold) return { kind: 'postponed' };
  try {
    const body = await build(app, { message, blobId: message.blobId, task });
    hold.shrinkTo(body.length);
    return await postToRoute(app, { route, deliveryId: task.id, body });
  } catch (error) {
    if (error instanceof DamagedBlobError)
      return { kind: 'unpostable', error: 'The stored message is damaged' };
    const isBusy = error instanceof MessagesWaitError || error instanceof AppError;
    if (isBusy) return { kind: 'postponed' };
    throw error;
  }
}

type Building = {
  message: ReceivedMessageRow;
  blobId: NonNullable<ReceivedMessageRow['blobId']>;
  task: Posted;
};

async function build(
  { db, config, parser, links }: DeliveringApp,
  { message, blobId, task }: Building,
): Promise<Buffer> {
  const owner = { root: blobFolder(config.dataDir), find: (id: string) => findBlob(db.read, id) };
  const blob: BlobContent = await openBlob(owner, blobId);
  const content = await parser.parse(blob, {
    owner: message.tenantId ?? '',
    content: { upToBytes: MAX_BODY_BYTES },
  });
  const recipients = await listReceivedRecipients(db.read, message.id);
  return buildBody({
    message,
    recipients: recipients.filter(({ targetId }) => targetId === task.targetId),
    content,
    linkTo: (file) => links.linkTo(message.id, file),
  });
}
