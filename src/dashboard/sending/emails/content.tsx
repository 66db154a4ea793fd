/** The content of an email: a preview in a frame, and its parts as text. The part that is shown stands in the address of the page. */
import { Foreign } from '../../frame/elements.tsx';
import { Table } from '../../frame/lists.tsx';
import { Source } from '../../frame/source.tsx';
import type { TenantContext } from '../../page.ts';
import { emailPath } from './facts.tsx';
import type { Email } from './recipients.tsx';

type Props = { context: TenantContext; email: Email };

/** Parts of an email that a page can show. */
const PARTS = ['preview', 'text', 'html', 'amp', 'calendar', 'headers'] as const;
type Part = (typeof PARTS)[number];

/** Maximum number of characters of a source on the page. The whole of it is in the downloaded message. */
const MAX_SHOWN_CHARACTERS = 100_000;

/** The content of an email with links to its other parts. */
export function Content({ context, email }: Props) {
  const { texts, query } = context;
  const sources = sourcesOf(email);
  const parts = PARTS.filter((part) => (part === 'preview' ? email.html !== null : sources[part] !== null));
  const shown = parts.find((part) => part === query.get('part')) ?? parts[0];
  if (email.contentDeletedAt !== null) return <p class="empty">{texts.email.contentDeleted}</p>;
  if (shown === undefined) return <p class="empty">{texts.email.noContent}</p>;
  return (
    <section id="content-parts" aria-labelledby="content-title">
      <h2 id="content-title">{texts.email.content}</h2>
      <nav class="tabs" aria-label={texts.email.parts}>
        <ul>
          {parts.map((part) => (
            <li key={part}>
              <a href={`?part=${part}#content-parts`} aria-current={part === shown ? 'true' : undefined}>
                {texts.email.partNames[part]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {shown === 'preview' ? (
        <Preview context={context} email={email} />
      ) : (
        <PartText context={context} text={sources[shown] ?? ''} label={texts.email.partNames[shown]} />
      )}
    </section>
  );
}

/** The preview is a page of its own, which may run and load nothing (preview.ts). */
function Preview({ context, email }: Props) {
  const { texts } = context;
  return (
    <>
      <iframe
        sandbox=""
        class="preview"
        title={texts.email.previewOf}
        src={`${emailPath(context, email.id)}/preview`}
        loading="lazy"
      />
      <p class="muted">{texts.email.previewHelp}</p>
    </>
  );
}

/** A part of the content as text, up to a length. */
function PartText({ context, text, label }: { context: TenantContext; text: string; label: string }) {
  const isCut = text.length > MAX_SHOWN_CHARACTERS;
  return (
    <>
      <Source label={label} text={isCut ? text.slice(0, MAX_SHOWN_CHARACTERS) : text} />
      {isCut && <p class="muted">{context.texts.email.cut(context.formats.number(MAX_SHOWN_CHARACTERS))}</p>}
    </>
  );
}

function sourcesOf({
  text,
  html,
  amp,
  calendar,
  headers,
}: Email): Record<Exclude<Part, 'preview'>, string | null> {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return {
    text,
    html,
    amp,
    calendar: calendar?.content ?? null,
    headers: fields.length === 0 ? null : fields.join('\n'),
  };
}

/** The files of an email. */
export function Attachments({ context, email }: Props) {
  const { texts, formats } = context;
  if (email.attachments.length === 0) return null;
  return (
    <Table
      context={context}
      caption={texts.email.attachments}
      rows={email.attachments.map((file, index) => ({ ...file, number: String(index + 1) }))}
      keyOf={({ number }) => number}
      columns={[
        {
          label: texts.email.fileName,
          cell: ({ filename, number }) =>
            email.contentDeletedAt === null ? (
              <a href={`${emailPath(context, email.id)}/files/${number}`} download>
                <Foreign text={filename || texts.email.noFileName} />
              </a>
            ) : (
              <Foreign text={filename || texts.email.noFileName} />
            ),
        },
        { label: texts.email.mediaType, cell: ({ contentType }) => <Foreign text={contentType} /> },
        { label: texts.email.disposition, cell: ({ disposition }) => texts.email.dispositions[disposition] },
        { label: texts.email.size, isNumeric: true, cell: ({ size }) => formats.bytes(size) },
      ]}
    />
  );
}
