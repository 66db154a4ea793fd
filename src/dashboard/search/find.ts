/**
 * Finds what a text may mean: an id, an address, a domain, a tag, a Message-ID, or the name of a page. Each search is an operation of the API
 * that reads an index, so it costs the same however much there is.
 */
import type { Static } from 'typebox';
import type { ShownApproval } from '../../approvals/schemas.ts';
import type { contactSchema } from '../../audiences/contacts/schemas.ts';
import type { audienceSchema } from '../../audiences/schemas.ts';
import type { domainSchema } from '../../domains/schemas.ts';
import type { emailPageSchema } from '../../emails/show.ts';
import type { foundSubjectsSchema } from '../../emails/subjects-api.ts';
import { path, type Query } from '../../http/json/calls.ts';
import type { receivedSummarySchema } from '../../routes/messages/schemas.ts';
import type { suppressionSchema } from '../../suppressions/schemas.ts';
import { AppError } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';
import type { TenantContext } from '../page.ts';
import { kindBelow, kindOfId, MAX_AUDIENCES, pagePathOf } from './kinds.ts';

/** Number of results of each kind; the list behind a link has more. */
const SHOWN = 5;
/** Number of days within which subjects are searched. */
export const SUBJECT_DAYS = 7;
/** Minimum length of a text that is looked for in subjects: fewer letters are in nearly all of them. */
const MIN_SUBJECT_CHARACTERS = 3;

export type Emails = Static<typeof emailPageSchema>['data'];
export type Subjects = Static<typeof foundSubjectsSchema>;
type List<Item> = { data: readonly Item[]; hasMore: boolean };
type Contact = Static<typeof contactSchema>;

/** A result with a page of its own, whose pattern is `page`. */
type Hit = { page: string; href: string; text: string; note?: string };

/** Everything that was found. */
export type Found = {
  /** Page of the resource that the text is the id of. */
  exact?: string;
  emailsTo: Emails;
  emailsFrom: Emails;
  tagged: Emails;
  /** Emails with this text in their subject, and how far was looked for it. */
  subjects: Subjects | undefined;
  hits: readonly Hit[];
};

const NOTHING: Found = { emailsTo: [], emailsFrom: [], tagged: [], subjects: undefined, hits: [] };

/** Text in the form `name:value`, which may be a tag. */
const TAG = /^[^:\s]+:.+$/;
/** Message-ID with its angle brackets, or a text that may be one without them (RFC 5322 section 3.6.4). */
const MESSAGE_ID = /^<[^<>\s]+>$|^[^<>\s]+@[^<>\s]+$/;
/** Local part of the Message-IDs that Postrider makes: the id of the email. */
const OWN_MESSAGE_ID = /^<?(em_[0-9a-z]{26})@[^@\s]+>?$/;
/** One `@` with something on both sides. */
const ADDRESS = /^[^@\s]+@[^@\s]+$/;
const DOMAIN = /^[^@\s:/]+\.[^@\s:/.]+$/;

/** Returns what a text means in this tenant and mode. `has` says which pages there are. */
export async function find(
  context: TenantContext,
  text: string,
  has: (page: string) => boolean,
): Promise<Found> {
  const [, messageOf] = OWN_MESSAGE_ID.exec(text) ?? [];
  const exact = await findById(context, messageOf ?? text, has);
  if (exact !== undefined) return { ...NOTHING, exact };
  const byMessageId = await findByMessageId(context, text);
  const [only, ...others] = byMessageId;
  if (only && others.length === 0 && has(only.page)) return { ...NOTHING, exact: only.href };
  const [emailsTo, emailsFrom, tagged, subjects, hits] = await Promise.all([
    ADDRESS.test(text) ? findEmails(context, { to: text }) : [],
    ADDRESS.test(text) || DOMAIN.test(text) ? findEmails(context, { from: text }) : [],
    TAG.test(text) ? findEmails(context, { tag: text }) : [],
    findSubjects(context, text),
    Promise.all([findDomain(context, text), findPeople(context, text)]),
  ]);
  const all = [...byMessageId, ...hits.flat()];
  return { emailsTo, emailsFrom, tagged, subjects, hits: all.filter(({ page }) => has(page)) };
}

async function findById(
  context: TenantContext,
  text: string,
  has: (page: string) => boolean,
): Promise<string | undefined> {
  const { api, at } = context;
  if (isId('apr', text)) return findApproval(context, text);
  if (kindBelow(text)) return findBelow(context, text);
  const kind = kindOfId(text);
  if (!kind || !has(kind.page)) return undefined;
  const found = await orNothing(api.get<object>(`${kind.api}${path`/${text}`}`));
  return found && at(pagePathOf(kind, text));
}

/** Returns the page of the mail that waits for an approval. */
async function findApproval({ api, at }: TenantContext, id: string): Promise<string | undefined> {
  const found = await orNothing(api.get<ShownApproval>(path`/approvals/${id}`));
  if (!found) return undefined;
  const { emailId, broadcastId } = found;
  return at(emailId === null ? path`/broadcasts/${broadcastId ?? ''}` : path`/emails/${emailId}`);
}

/** Returns the page of a resource below another one, which each of the others is asked for. */
async function findBelow({ api, at }: TenantContext, id: string): Promise<string | undefined> {
  const kind = kindBelow(id);
  if (!kind) return undefined;
  const { data: parents } = await api.get<List<{ id: string }>>(kind.list, { limit: kind.limit });
  const found = await Promise.all(
    parents.map(async (parent) => {
      const place = kind.pathOf(parent.id, id);
      return (await orNothing(api.get<object>(place))) && at(place);
    }),
  );
  return found.find((place) => place !== undefined);
}

/** Returns true for a text that may be a contact, of which not every audience is asked. */
export function mayBeContact(text: string): boolean {
  return ADDRESS.test(text) || isId('ct', text);
}

async function findEmails({ api }: TenantContext, filter: Query): Promise<Emails> {
  return (await orNothing(api.get<{ data: Emails }>('/emails', { ...filter, limit: SHOWN })))?.data ?? [];
}

/** Returns the emails and the received messages with a Message-ID that others have made. */
async function findByMessageId({ api, at, texts }: TenantContext, text: string): Promise<Hit[]> {
  if (!MESSAGE_ID.test(text)) return [];
  const query = { messageId: text, limit: SHOWN };
  const [emails, received] = await Promise.all([
    orNothing(api.get<{ data: Emails }>('/emails', query)),
    orNothing(api.get<List<Static<typeof receivedSummarySchema>>>('/inbound/messages', query)),
  ]);
  return [
    ...(emails?.data ?? []).map(({ id, subject }) => ({
      page: '/emails/:id',
      href: at(path`/emails/${id}`),
      text: subject,
      note: texts.search.email,
    })),
    ...(received?.data ?? []).map(({ id, subject }) => ({
      page: '/inbound/:id',
      href: at(path`/inbound/${id}`),
      text: subject,
      note: texts.search.received,
    })),
  ];
}

/** Returns the emails with the text in their subject. An address or a tag is looked for where it means more. */
async function findSubjects({ api }: TenantContext, text: string): Promise<Subjects | undefined> {
  if (text.length < MIN_SUBJECT_CHARACTERS || ADDRESS.test(text)) return undefined;
  return orNothing(api.get<Subjects>('/emails/subjects', { text, days: SUBJECT_DAYS, limit: SHOWN }));
}

async function findDomain({ api, at }: TenantContext, text: string): Promise<Hit[]> {
  if (!DOMAIN.test(text)) return [];
  const found = await orNothing(api.get<List<Static<typeof domainSchema>>>('/domains', { name: text }));
  return (found?.data ?? []).map(({ id, name }) => ({
    page: '/domains/:id',
    href: at(path`/domains/${id}`),
    text: name,
  }));
}

/** Returns the suppression and the contacts of an address. */
async function findPeople(context: TenantContext, text: string): Promise<Hit[]> {
  if (!ADDRESS.test(text)) return [];
  const { api, at, texts } = context;
  const suppressed = await orNothing(
    api.get<List<Static<typeof suppressionSchema>>>('/suppressions', { email: text, limit: SHOWN }),
  );
  const suppressions = (suppressed?.data ?? []).map(({ email }) => ({
    page: '/suppressions',
    href: `${at('/suppressions')}?${new URLSearchParams({ email })}`,
    text: email,
    note: texts.search.suppressed,
  }));
  const { data: audiences } = await api.get<List<Static<typeof audienceSchema>>>('/audiences', {
    limit: MAX_AUDIENCES,
  });
  const contacts = await Promise.all(
    audiences.map(async ({ id, name }) => {
      const { data } = await api.get<List<Contact>>(path`/audiences/${id}/contacts`, {
        email: text,
        limit: 1,
      });
      return data.map((contact) => ({
        page: '/audiences/:audienceId/contacts/:contactId',
        href: at(path`/audiences/${id}/contacts/${contact.id}`),
        text: contact.email,
        note: texts.search.contactIn(name),
      }));
    }),
  );
  return [...suppressions, ...contacts.flat()];
}

/** Text that a filter cannot mean, such as a tag without a value, finds nothing. */
async function orNothing<Value>(answer: Promise<Value>): Promise<Value | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && ['not_found', 'validation_error'].includes(error.code)) return undefined;
    throw error;
  }
}
