/** What the API adds to a message: the emails, who they are found by, and idempotency. All their SQL. */
import { insertBlob } from '../blobs/store.ts';
import { defineRead, defineWrite, type Tx } from '../db/operation.ts';
import { type PageRequest, readPage, type Slice } from '../db/page.ts';
import { type Param, statement } from '../db/statement.ts';
import type {
  BlobRow,
  EmailAddressRow,
  EmailRow,
  EmailStatus,
  IdempotencyRow,
  MessageRow,
  Mode,
} from '../db/tables.ts';
import { addressKey, parseMailbox } from '../mail/address.ts';
import { enqueue, recordRecipientEvent } from '../queue/store.ts';
import { findSuppressed } from '../suppressions/store.ts';
import { AppError } from '../system/errors.ts';
import { idempotencyConflict } from './idempotency.ts';
import type { EnvelopeRecipient } from './request.ts';
import type { EmailWithStatus } from './schemas.ts';

const insertEmail = statement((db, param: Param<EmailRow>) =>
  db.insertInto('emails').values({
    id: param('id'),
    tenantId: param('tenantId'),
    mode: param('mode'),
    type: param('type'),
    fromHeader: param('fromHeader'),
    fromAddress: param('fromAddress'),
    fromDomain: param('fromDomain'),
    toList: param('toList'),
    ccList: param('ccList'),
    bccList: param('bccList'),
    replyToList: param('replyToList'),
    subject: param('subject'),
    html: param('html'),
    text: param('text'),
    rfcMessageId: param('rfcMessageId'),
    createdAt: param('createdAt'),
  }),
);

const insertAddress = statement((db, param: Param<EmailAddressRow>) =>
  db.insertInto('emailAddresses').values({
    tenantId: param('tenantId'),
    mode: param('mode'),
    address: param('address'),
    emailId: param('emailId'),
  }),
);

export type IdempotencyClaim = { key: string; requestHash: string; expiresAt: number };

export type Acceptance = {
  email: EmailRow;
  message: MessageRow;
  blob: BlobRow;
  recipients: readonly EnvelopeRecipient[];
  /** Recipients the simulator suppresses, besides those on the list. */
  simulatedSuppressions: readonly string[];
  idempotency: IdempotencyClaim | undefined;
};

export type Accepted = { id: string; status: 'queued'; replayed: boolean };

/**
 * Accepting an email, whole or not at all: email, message, bytes, a row for each recipient, `email.queued`, and the
 * idempotency record, so that a second request with the key finds either everything or nothing.
 *
 * @throws AppError idempotency_conflict, suppressed_recipient
 */
export const acceptEmail = defineWrite('emails.accept', async (tx, input: Acceptance): Promise<Accepted> => {
  const { email, message, idempotency } = input;
  if (idempotency) {
    const replay = await findReplay(tx, { ...message, ...idempotency, now: message.createdAt });
    if (replay) return replay;
  }
  const suppressed = await findSuppressed(
    tx,
    email.tenantId,
    input.recipients.map((recipient) => recipient.address),
  );
  for (const address of input.simulatedSuppressions) suppressed.add(addressKey(address));
  const recipients = input.recipients.map((recipient) => ({
    ...recipient,
    suppressed: suppressed.has(addressKey(recipient.address)),
  }));
  if (recipients.every((recipient) => recipient.suppressed)) {
    throw new AppError('suppressed_recipient', 'All recipients are on the suppression list');
  }
  await insertBlob(tx, input.blob);
  await enqueue(tx, message, recipients);
  await insertEmail.all(tx, email);
  for (const { address, suppressed: isSuppressed } of recipients) {
    await insertAddress.all(tx, { ...email, address: addressKey(address), emailId: email.id });
    const type = isSuppressed ? 'email.suppressed' : 'email.queued';
    await recordRecipientEvent(
      tx,
      { ...message, ...email },
      address,
      { type, details: {} },
      message.createdAt,
    );
  }
  const accepted = { id: email.id, status: 'queued' } as const;
  if (idempotency)
    await recordResponse(tx, { ...message, ...idempotency, response: JSON.stringify(accepted) });
  return { ...accepted, replayed: false };
});

const byKey = statement((db, param: Param<Pick<IdempotencyRow, 'tenantId' | 'mode' | 'key'>>) =>
  db
    .selectFrom('idempotency')
    .selectAll()
    .where('tenantId', '=', param('tenantId'))
    .where('mode', '=', param('mode'))
    .where('key', '=', param('key')),
);

export type ReplayQuery = Pick<IdempotencyRow, 'tenantId' | 'mode' | 'key' | 'requestHash'> & { now: number };

/** @throws AppError idempotency_conflict when the key belongs to another request */
export async function findReplay(tx: Tx, query: ReplayQuery): Promise<Accepted | undefined> {
  const row = await byKey.first(tx, query);
  if (!row || row.expiresAt <= query.now) return undefined;
  if (row.requestHash !== query.requestHash) throw idempotencyConflict();
  return { ...(JSON.parse(row.response) as Omit<Accepted, 'replayed'>), replayed: true };
}

const upsertResponse = statement((db, param: Param<IdempotencyRow>) =>
  db
    .insertInto('idempotency')
    .values({
      tenantId: param('tenantId'),
      mode: param('mode'),
      key: param('key'),
      requestHash: param('requestHash'),
      response: param('response'),
      expiresAt: param('expiresAt'),
    })
    .onConflict((conflict) =>
      conflict.columns(['tenantId', 'mode', 'key']).doUpdateSet((set) => ({
        requestHash: set.ref('excluded.requestHash'),
        response: set.ref('excluded.response'),
        expiresAt: set.ref('excluded.expiresAt'),
      })),
    ),
);

async function recordResponse(tx: Tx, row: IdempotencyRow): Promise<void> {
  await upsertResponse.all(tx, row);
}

const SWEEP_ROWS = 1_000;

/** Removes records past their window; answers how many. */
export const sweepIdempotency = defineWrite(
  'emails.sweepIdempotency',
  async (tx, { now }: { now: number }) => {
    const { numDeletedRows } = await tx
      .deleteFrom('idempotency')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('tenantId', 'mode', 'key'),
          'in',
          selectFrom('idempotency')
            .select(['tenantId', 'mode', 'key'])
            .where('expiresAt', '<=', now)
            .orderBy('expiresAt')
            .limit(SWEEP_ROWS)
            .$asTuple('tenantId', 'mode', 'key'),
        ),
      )
      .executeTakeFirst();
    return Number(numDeletedRows);
  },
);

const byId = statement((db, param: Param<Pick<EmailRow, 'tenantId' | 'mode' | 'id'>>) =>
  db
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .selectAll('emails')
    .select(['messages.status', 'messages.lastEventAt'])
    .where('emails.id', '=', param('id'))
    .where('emails.tenantId', '=', param('tenantId'))
    .where('emails.mode', '=', param('mode')),
);

export function findEmail(
  tx: Tx,
  tenantId: EmailRow['tenantId'],
  { mode, id }: { mode: Mode; id: EmailRow['id'] },
): Promise<EmailWithStatus | undefined> {
  return byId.first(tx, { tenantId, mode, id });
}

export type EmailFilter = { status?: EmailStatus; from?: string; to?: string };

export type ListEmails = {
  tenantId: EmailRow['tenantId'];
  mode: Mode;
  filter: EmailFilter;
  page: PageRequest;
};

export const listEmails = defineRead('emails.list', (tx, input: ListEmails) =>
  readPage(input.page, (slice) => emailSlice(tx, input, slice)),
);

function emailSlice(tx: Tx, { tenantId, mode, filter }: ListEmails, slice: Slice) {
  let query = tx
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select(['emails.id', 'fromHeader', 'toList', 'subject', 'messages.status', 'emails.createdAt'])
    .where('emails.tenantId', '=', tenantId)
    .where('emails.mode', '=', mode)
    .orderBy('emails.id', slice.direction === 'older' ? 'desc' : 'asc')
    .limit(slice.limit);
  if (slice.cursor !== undefined) {
    query = query.where('emails.id', slice.direction === 'older' ? '<' : '>', slice.cursor as EmailRow['id']);
  }
  if (filter.status !== undefined) {
    // Said of messages too, so that `messagesByStatus` serves: a rare status must not walk the whole history.
    query = query
      .where('messages.tenantId', '=', tenantId)
      .where('messages.mode', '=', mode)
      .where('messages.status', '=', filter.status)
      .clearOrderBy()
      .orderBy('messages.id', slice.direction === 'older' ? 'desc' : 'asc');
  }
  if (filter.from !== undefined) {
    query = filter.from.includes('@')
      ? query.where('fromAddress', '=', filterAddress(filter.from))
      : query.where('fromDomain', '=', filterDomain(filter.from));
  }
  if (filter.to !== undefined) {
    const address = filterAddress(filter.to);
    query = query.where('emails.id', 'in', (nested) =>
      nested
        .selectFrom('emailAddresses')
        .select('emailId')
        .where('tenantId', '=', tenantId)
        .where('mode', '=', mode)
        .where('address', '=', address),
    );
  }
  return query.execute();
}

/** As addresses are kept: bare, without case, the domain in A-labels. What is no address equals none. */
function filterAddress(text: string): string {
  return addressKey(parseMailbox(text)?.address ?? text);
}

function filterDomain(text: string): string {
  return parseMailbox(`a@${text}`)?.domain ?? text;
}
