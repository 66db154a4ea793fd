/**
 * Sends a draft to a few addresses, so that its author sees what a contact would. Each address gets an ordinary email of
 * the type broadcast, which is no copy of the broadcast: neither the ledger nor the counts change, and the link to
 * unsubscribe belongs to the address itself, never to the contact.
 */
import type { App } from '../app.ts';
import { findContact } from '../audiences/contacts/store.ts';
import { discardAll } from '../blobs/discard-on-refusal.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import {
  acceptBatch,
  asFailure,
  type BatchFailure,
  type EmailRows,
  type Sent,
  type SentBatch,
} from '../emails/accept.ts';
import { blobsOf, commitStored } from '../emails/commit.ts';
import { broadcastFields } from '../emails/marketing-fields.ts';
import { type PrepareApp, prepareEmail } from '../emails/prepare.ts';
import type { HoldText } from '../emails/render.ts';
import { readAddresses, readMailbox } from '../emails/request/addresses.ts';
import type { EmailRequest } from '../emails/request.ts';
import { readEach } from '../http/json/read-fields.ts';
import { addressKey } from '../mail/address.ts';
import { createPacking } from '../queue/contents/source.ts';
import { AppError, invalid } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import type { VariableValue } from '../templates/render.ts';
import type { Caller, RequireValidKey } from '../tenants/authenticate.ts';
import { findTopic } from '../topics/store.ts';
import { draftFieldsOf, readDraft } from './draft.ts';
import { mergeValuesOf } from './merge-values.ts';
import type { TestBody } from './preview-schemas.ts';
import { getBroadcast } from './store.ts';

type TestSending = {
  id: string;
  body: TestBody;
  holdText: HoldText;
  requireValidKey: RequireValidKey;
};

/** The outcome of the test for one address. */
type TestResult = { to: string } & (Sent | BatchFailure);

/**
 * Sends a broadcast that has not started to the given addresses, each of them once. An address that cannot be sent to gets
 * an error in its item and does not affect the others.
 *
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified, unavailable
 */
export async function sendTest(app: PrepareApp, caller: Caller, given: TestSending): Promise<TestResult[]> {
  const broadcast = await getBroadcast(app.db.read, caller, given.id);
  if (broadcast.status !== 'draft' && broadcast.status !== 'scheduled')
    throw new AppError('invalid_state', `A broadcast that is ${broadcast.status} cannot be tested`);
  const addresses = readTestAddresses(given.body.to);
  await readDraft(app, caller, { wanted: draftFieldsOf(broadcast), given: {} });
  const variables = await findValues(app, broadcast, given.body.contactId);
  // The texts of the draft are not part of the request, so they count in addition to it, once for each address.
  given.holdText(addresses.length * ((broadcast.html?.length ?? 0) + (broadcast.text?.length ?? 0)));
  const items = await prepareEach(app, caller, { broadcast, variables, addresses, given });
  const { data } = await commitTests(app, caller, { items, given });
  return addresses.flatMap((to, index) => (data[index] ? { to, ...data[index] } : []));
}

/**
 * Returns the addresses of the request, each of them once.
 * @throws AppError validation_error naming every wrong address
 */
function readTestAddresses(to: readonly string[]): string[] {
  const mailboxes = readEach(to, (text, index) => ({ text, ...readMailbox(`to[${index}]`, text) }));
  const byKey = new Map<string, string>();
  for (const { text, address } of mailboxes) {
    const key = addressKey(address);
    if (!byKey.has(key)) byKey.set(key, text);
  }
  return [...byKey.values()];
}

/**
 * Returns the values of the contact. Without a contact, the fallbacks of the placeholders apply.
 * @throws AppError validation_error when the audience of the broadcast has no such contact
 */
async function findValues(
  app: Pick<App, 'db'>,
  { tenantId, audienceId }: BroadcastRow,
  contactId: string | null | undefined,
): Promise<Record<string, VariableValue>> {
  if (contactId === undefined || contactId === null) return {};
  const contact = isId('ct', contactId)
    ? await findContact(app.db.read, tenantId, { audienceId, idOrAddress: contactId })
    : undefined;
  if (!contact)
    throw invalid('contactId', '`contactId` must name a contact of the audience of the broadcast');
  return mergeValuesOf(contact);
}

type Item = EmailRows | BatchFailure;

type Preparing = {
  broadcast: BroadcastRow;
  variables: Record<string, VariableValue>;
  addresses: readonly string[];
  given: TestSending;
};

/** Prepares an email for each address. When it throws, it discards all content that it has stored. */
async function prepareEach(
  app: PrepareApp,
  caller: Caller,
  { broadcast, variables, addresses, given: { holdText } }: Preparing,
): Promise<Item[]> {
  const pack = createPacking();
  const items: Item[] = [];
  const { tenantId, topicId } = broadcast;
  const topic = topicId === null ? undefined : await findTopic(app.db.read, tenantId, topicId);
  const listFields = broadcastFields(app, { ...broadcast, topicName: topic?.name });
  try {
    for (const to of addresses) {
      const request = emailRequest(broadcast, { to, variables, listFields, now: app.clock.now() });
      items.push(await prepareEmail(app, caller, { request, holdText, pack }).catch(asFailure));
    }
    return items;
  } catch (error) {
    await discardAll(app.blobs, blobsOf(rowsIn(items)));
    throw error;
  }
}

type OneTest = Pick<Preparing, 'variables'> &
  Required<Pick<EmailRequest, 'listFields'>> & { to: string; now: number };

function emailRequest(
  { fromHeader: from, replyTo, subject, html, text, templateId, topicId }: BroadcastRow,
  { to, variables, listFields, now }: OneTest,
): EmailRequest {
  return {
    listFields,
    type: 'broadcast',
    isUntracked: true,
    addresses: readAddresses({ from, to: [to], ...(replyTo !== null && { replyTo }) }),
    content: {
      subject,
      html: html ?? undefined,
      text: text ?? undefined,
      templateId: templateId ?? undefined,
      variables,
    },
    headers: [],
    attachments: [],
    tags: [],
    schedule: { scheduledAt: null, datedAt: now },
    topicId: topicId ?? undefined,
  };
}

/** Stores all emails in one write. */
async function commitTests(
  app: PrepareApp,
  { tenantId, mode }: Caller,
  { items, given }: { items: readonly Item[]; given: TestSending },
): Promise<SentBatch> {
  const owner = { tenantId, mode, now: app.clock.now() };
  const { response } = await commitStored(
    app,
    { write: acceptBatch, input: { owner, items, idempotency: undefined } },
    {
      rows: rowsIn(items),
      acceptedRows: ({ data }) => rowsIn(items.filter((_, index) => data[index]?.status === 'queued')),
      requireValidKey: given.requireValidKey,
    },
  );
  return response;
}

function rowsIn(items: readonly Item[]): EmailRows[] {
  return items.filter((item) => 'source' in item);
}
