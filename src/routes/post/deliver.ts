/** Makes one post to a route: it parses the message, builds the body, and posts it signed. */
import { type BlobContent, openBlob } from '../../blobs/blobs.ts';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import { type BlobOwner, blobFolder } from '../../blobs/owner.ts';
import type { InboundRouteRow, ReceivedMessageRow, ReceivedTaskRow } from '../../db/inbound-tables.ts';
import type { PostedMail } from '../../inbound/tasks/read-store.ts';
import type { TaskId } from '../../inbound/tasks/store.ts';
import { type MessageParser, MessagesWaitError } from '../../mail/message/parse/parser.ts';
import { AppError } from '../../system/errors.ts';
import type { PartApp } from '../../thread-app.ts';
import type { Unposted } from '../../webhooks/posting/kind.ts';
import { type PostOutcome, postSigned } from '../../webhooks/posting/post.ts';
import { openKey } from '../../webhooks/posting/signature.ts';
import { buildBody, MAX_BODY_BYTES } from './body.ts';
import type { DownloadLinks } from './links.ts';
import type { PostMemory } from './memory.ts';

export type RoutePost = {
  route: Pick<InboundRouteRow, 'id' | 'tenantId' | 'destination' | 'secretSealed'>;
  /** Id of the task, which all attempts share. */
  deliveryId: ReceivedTaskRow['id'];
  body: string | Uint8Array;
};

export type DeliveringApp = PartApp & {
  parser: MessageParser;
  links: DownloadLinks;
  memory: PostMemory;
  /** Return what a post is about, and a blob, each read together with those of other posts. */
  findMail(id: TaskId): Promise<PostedMail | undefined>;
  findBlob: BlobOwner['find'];
};

/** Posts a body to a route. It never throws for an error of the receiver. */
export function postToRoute(app: PartApp, { route, deliveryId, body }: RoutePost): Promise<PostOutcome> {
  const { id, tenantId, destination, secretSealed } = route;
  return postSigned(app, {
    url: destination,
    keys: [openKey(app, secretSealed, [tenantId, id])],
    deliveryId,
    messageId: deliveryId,
    headers: {},
    body,
  });
}

/** Posts the message of a task to its route. */
export async function deliverToRoute(
  app: DeliveringApp,
  { id, route }: { id: TaskId; route: InboundRouteRow },
): Promise<PostOutcome | Unposted> {
  const mail = await app.findMail(id);
  if (!mail || mail.message.blobId === null)
    return { kind: 'unpostable', error: 'The message is no longer kept' };
  const { message } = mail;
  using hold = await app.memory.reserve(route.tenantId, message.sizeBytes);
  if (!hold) return { kind: 'postponed' };
  try {
    const body = await build(app, { ...mail, blobId: mail.message.blobId });
    hold.shrinkTo(body.length);
    return await postToRoute(app, { route, deliveryId: id, body });
  } catch (error) {
    if (error instanceof DamagedBlobError)
      return { kind: 'unpostable', error: 'The stored message is damaged' };
    const isBusy = error instanceof MessagesWaitError || error instanceof AppError;
    if (isBusy) return { kind: 'postponed' };
    throw error;
  }
}

type Building = PostedMail & { blobId: NonNullable<ReceivedMessageRow['blobId']> };

async function build(
  { config, parser, links, findBlob }: DeliveringApp,
  { message, recipients, blobId }: Building,
): Promise<Buffer> {
  const blob: BlobContent = await openBlob({ root: blobFolder(config.dataDir), find: findBlob }, blobId);
  const content = await parser.parse(blob, {
    owner: message.tenantId ?? '',
    content: { upToBytes: MAX_BODY_BYTES },
  });
  return buildBody({ message, recipients, content, linkTo: (file) => links.linkTo(message.id, file) });
}
