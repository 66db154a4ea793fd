/**
 * Finds what a text may mean: an id, an address, a domain, a tag, a Message-ID, or the name of a page. Each search is an operation of the API
 * that reads an index, so it costs the same however much there is.
 */
import type { Static } from 'typebox';
import type { contactSchema } from '../../audiences/contacts/schemas.ts';
import type { audienceSchema } from '../../audiences/schemas.ts';
import type { domainSchema } from '../../domains/schemas.ts';
import type { emailPageSchema } from '../../emails/show.ts';
import type { suppressionSchema } from '../../suppressions/schemas.ts';
import { AppError } from '../../system/errors.ts';
import { path, type Query } from '../calls.ts';
import type { TenantContext } from '../page.ts';
import { kindOfId, pagePathOf } from './kinds.ts';

/** Number of results of each kind; the list behind a link has more. */
const SHOWN = 5;
/** Maximum number of audiences in which an address is looked for. */
const MAX_AUDIENCES = 20;

export type Emails = Static<typeof emailPageSchema>['data'];
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
  hits: readonly Hit[];
};

const NOTHING: Found = { emailsTo: [], emailsFrom: [], tagged: [], hits: [] };

/** Text in the form `name:value`, which may be a tag. */
const TAG = /^[^:\s]+:.+$/;
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
  const [emailsTo, emailsFrom, tagged, hits] = await Promise.all([
    ADDRESS.test(text) ? findEmails(context, { to: text }) : [],
    ADDRESS.test(text) || DOMAIN.test(text) ? findEmails(context, { from: text }) : [],
    TAG.test(text) ? findEmails(context, { tag: text }) : [],
    Promise.all([findDomain(context, text), findPeople(context, text)]),
  ]);
  return { emailsTo, emailsFrom, tagged, hits: hits.flat().filter(({ page }) => has(page)) };
}

async function findById(
  { api, at }: TenantContext,
  text: string,
  has: (page: string) => boolean,
): Promise<string | undefined> {
  const kind = kindOfId(text);
  if (!kind || !has(kind.page)) return undefined;
  const found = await orNothing(api.get<object>(`${kind.api}${path`/${text}`}`));
  return found && at(pagePathOf(kind, text));
}

async function findEmails({ api }: TenantContext, filter: Query): Promise<Emails> {
  return (await orNothing(api.get<{ data: Emails }>('/emails', { ...filter, limit: SHOWN })))?.data ?? [];
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
