/** The parts of a draft's page: the preview as a contact, and the test. */
import type { Static } from 'typebox';
import type { previewSchema, testAnswerSchema } from '../../../broadcasts/preview-schemas.ts';
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import { AppError } from '../../../system/errors.ts';
import { Facts, Foreign, Heading, Sentence, Status } from '../../frame/elements.tsx';
import { Field, Form } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { Why } from '../../frame/refusal.tsx';
import type { TenantContext } from '../../page.ts';
import { broadcastPath } from './facts.tsx';

type Preview = Static<typeof previewSchema>;
export type TestAnswer = Static<typeof testAnswerSchema>;

/** Returns the preview as the contact that the address of the page names, or why there is none. */
export async function findPreview(context: TenantContext): Promise<Preview | AppError> {
  const { api, query } = context;
  try {
    const asked = { contact: query.get('contact')?.trim() };
    return await api.get<Preview>(`${broadcastPath(context)}/preview`, asked);
  } catch (refusal) {
    if (refusal instanceof AppError && refusal.code !== 'not_found') return refusal;
    throw refusal;
  }
}

/** Returns the id of a contact of the broadcast's audience, which is named by its address or its id. */
export async function findContactId(context: TenantContext, contact: string): Promise<string | null> {
  const preview = await context.api.get<Preview>(`${broadcastPath(context)}/preview`, { contact });
  return preview.contactId;
}

export async function draftParts(context: TenantContext, { id }: ShownBroadcast) {
  const { texts, query, path, at, can } = context;
  const { broadcasts } = texts;
  const preview = await findPreview(context);
  const contact = query.get('contact') ?? '';
  return (
    <>
      <section aria-labelledby="preview">
        <h2 id="preview">{broadcasts.preview}</h2>
        <form method="get" action={path} class="filters">
          <label>
            {broadcasts.previewAs}
            <input type="text" name="contact" value={contact} dir="auto" aria-describedby="as-help" />
          </label>
          <button type="submit">{broadcasts.show}</button>
          <small id="as-help">{broadcasts.previewAsHelp}</small>
        </form>
        {preview instanceof AppError ? (
          <p class="refused" role="alert">
            <Why context={context} refusal={preview} />
          </p>
        ) : (
          <PreviewParts
            context={context}
            preview={preview}
            frame={at(`/broadcasts/${id}/preview?${new URLSearchParams({ contact })}`)}
          />
        )}
      </section>
      {can('write') && (
        <section aria-labelledby="test">
          <h2 id="test">{broadcasts.test}</h2>
          <Form context={context} action="test" submit={broadcasts.test}>
            <Field
              context={context}
              action="test"
              name="to"
              label={broadcasts.testTo}
              help={broadcasts.testToHelp}
              value={context.person.email}
              isRequired
            />
            <Field
              context={context}
              action="test"
              name="contact"
              label={broadcasts.previewAs}
              help={broadcasts.previewAsHelp}
              value={(!(preview instanceof AppError) && preview.email) || ''}
            />
          </Form>
        </section>
      )}
    </>
  );
}

type PartsProps = { context: TenantContext; preview: Preview; frame: string };

function PreviewParts({ context, preview: { email, subject, text }, frame }: PartsProps) {
  const { broadcasts } = context.texts;
  return (
    <>
      <p>{email === null ? broadcasts.previewOfNobody : broadcasts.previewOf(email)}</p>
      <Facts facts={[[broadcasts.subject, <Foreign key="subject" text={subject} />]]} />
      <iframe class="preview" sandbox="" src={frame} title={broadcasts.previewFrame} loading="lazy" />
      <details>
        <summary>{broadcasts.previewText}</summary>
        <pre class="whole" dir="auto">
          {text}
        </pre>
      </details>
    </>
  );
}

/** Shows the result of a test mail for each address. */
export function TestResults({ context, results }: { context: TenantContext; results: TestAnswer['data'] }) {
  const { texts, at, path } = context;
  const { broadcasts } = texts;
  return (
    <>
      <Heading title={broadcasts.testResult} />
      <Table
        context={context}
        caption={broadcasts.testResult}
        rows={results}
        keyOf={({ to }) => to}
        columns={[
          { label: broadcasts.testTo, cell: ({ to }) => <Foreign text={to} /> },
          {
            label: broadcasts.status,
            cell: ({ id, error }) =>
              id === null ? (
                <>
                  <Status tone="bad">{texts.frame.no}</Status>{' '}
                  {error && <Sentence context={context} text={error.message} />}
                </>
              ) : (
                <a href={at(`/emails/${id}`)}>{broadcasts.testAccepted}</a>
              ),
          },
        ]}
      />
      <p>
        <a href={path}>{broadcasts.back}</a>
      </p>
    </>
  );
}
