/** The page of the search box: it leads to what an id names, and shows what else a text may mean. */
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { definePage, type PageDefinition, type TenantContext } from '../page.ts';
import { EmailTable } from '../sending/emails/list.tsx';
import { type Emails, type Found, find, mayBeContact, SUBJECT_DAYS, type Subjects } from './find.ts';
import { MAX_AUDIENCES } from './kinds.ts';

/** Maximum length of the text: that of an address with its angle brackets is shorter (RFC 5321 section 4.5.3.1.3). */
const MAX_CHARACTERS = 512;

/** Returns the page. It finds the other pages by their names, so it is given the list that it is itself a part of. */
export function searchPageOver(listPages: () => readonly PageDefinition[]): PageDefinition<'tenant'> {
  const tenantPages = () => listPages().filter(({ area }) => area === 'tenant');
  return definePage({
    area: 'tenant',
    path: '/search',
    async show(context) {
      const { query, texts } = context;
      const text = (query.get('q') ?? '').trim().slice(0, MAX_CHARACTERS);
      const has = (path: string) => tenantPages().some((page) => page.path === path);
      const found = text === '' ? undefined : await find(context, text, has);
      if (found?.exact !== undefined) return { to: found.exact };
      return {
        title: texts.search.title,
        body: (
          <>
            <Heading title={texts.search.title} />
            {found ? (
              <Results
                context={context}
                text={text}
                found={found}
                pages={pagesNamed(context, tenantPages(), text)}
              />
            ) : (
              <p>{texts.search.help}</p>
            )}
          </>
        ),
      };
    },
  });
}

type NamedPage = { href: string; label: string };

/** Returns the pages of the navigation whose name contains the text, in any case of its letters. */
function pagesNamed(context: TenantContext, pages: readonly PageDefinition[], text: string): NamedPage[] {
  const wanted = text.toLocaleLowerCase(context.formats.language);
  return pages.flatMap(({ menu, path, needs = 'read' }) => {
    const label = menu && context.can(needs) ? menu.label(context.texts) : undefined;
    const isNamed = label?.toLocaleLowerCase(context.formats.language).includes(wanted);
    return label !== undefined && isNamed ? [{ href: context.at(path), label }] : [];
  });
}

type ResultsProps = {
  context: TenantContext;
  text: string;
  found: Found;
  pages: readonly NamedPage[];
};

function Results({ context, text, found, pages }: ResultsProps) {
  const { search } = context.texts;
  const { hits, emailsTo, emailsFrom, tagged, subjects } = found;
  const isEmpty = [pages, hits, emailsTo, emailsFrom, tagged, subjects?.data ?? []].every(
    ({ length }) => length === 0,
  );
  return (
    <>
      <p role="status">
        {isEmpty ? search.nothing : search.resultsFor} <Foreign text={text} />
      </p>
      {isEmpty && <p>{search.help}</p>}
      {mayBeContact(text) && (
        <p class="muted">{search.newestAudiences(context.formats.number(MAX_AUDIENCES))}</p>
      )}
      {pages.length + hits.length > 0 && (
        <ul>
          {pages.map(({ href, label }) => (
            <li key={href}>
              <a href={href}>{label}</a> <span class="muted">{search.page}</span>
            </li>
          ))}
          {hits.map(({ href, text: name, note }) => (
            <li key={href}>
              <a href={href}>
                <Foreign text={name} />
              </a>{' '}
              <Foreign text={note} />
            </li>
          ))}
        </ul>
      )}
      <FoundEmails context={context} title={search.emailsTo} emails={emailsTo} filter={{ to: text }} />
      <FoundEmails context={context} title={search.emailsFrom} emails={emailsFrom} filter={{ from: text }} />
      <FoundEmails context={context} title={search.tagged} emails={tagged} filter={{ tag: text }} />
      {subjects && <FoundSubjects context={context} subjects={subjects} />}
    </>
  );
}

/** Emails by their subjects, with how far was looked. */
function FoundSubjects({ context, subjects }: { context: TenantContext; subjects: Subjects }) {
  const { search } = context.texts;
  const { number } = context.formats;
  const { data, examined, since, isComplete } = subjects;
  return (
    <section>
      {data.length > 0 && <h2>{search.subjects}</h2>}
      {data.length > 0 && <EmailTable context={context} emails={data} />}
      <p class="muted">
        {isComplete ? (
          search.allSubjects(number(SUBJECT_DAYS))
        ) : (
          <>
            {search.someSubjects(number(examined))} <Time context={context} at={since} />
          </>
        )}
      </p>
    </section>
  );
}

type FoundEmailsProps = {
  context: TenantContext;
  title: string;
  emails: Emails;
  /** Filter of the list that has all of them. */
  filter: Record<string, string>;
};

function FoundEmails({ context, title, emails, filter }: FoundEmailsProps) {
  if (emails.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <EmailTable context={context} emails={emails} />
      <p>
        <a href={`${context.at('/emails')}?${new URLSearchParams(filter)}`}>{context.texts.search.all}</a>
      </p>
    </section>
  );
}
