/** Adds many suppressions at once, from a text. Files are imported, which `files.tsx` does. */
import type { Static } from 'typebox';
import type { addedBatchSchema } from '../../../suppressions/schemas.ts';
import { invalid } from '../../../system/errors.ts';
import { Facts, Foreign, Heading, Sentence } from '../../frame/elements.tsx';
import { Field, Form, Select } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { reasonOptions } from './list.tsx';

type Added = Static<typeof addedBatchSchema>['data'][number];

const ACTION = 'add';
/** Maximum number of addresses in the text, which are ten requests of the API. */
const MAX_ADDRESSES = 1_000;
/** Number of addresses in one request, which is the maximum of the API. */
const BATCH = 100;

export const addSuppressionsPage = definePage({
  area: 'tenant',
  path: '/suppressions/add',
  needs: 'write',
  async show(context) {
    const { suppressions } = context.texts;
    const field = { context, action: ACTION };
    return {
      title: suppressions.add,
      body: (
        <>
          <Heading title={suppressions.add}>
            <a href={context.at('/suppressions/files')}>{suppressions.fileInstead}</a>
          </Heading>
          <Form {...field} submit={suppressions.add} keepsDraft>
            <Field
              {...field}
              name="emails"
              label={suppressions.emails}
              help={suppressions.emailsHelp(context.formats.number(MAX_ADDRESSES))}
              rows={10}
              isRequired
            />
            <Select
              {...field}
              name="reason"
              label={suppressions.reason}
              value="manual"
              options={reasonOptions(context)}
            />
          </Form>
        </>
      ),
    };
  },
  actions: {
    [ACTION]: {
      logs: ['reason'],
      async run(context, form) {
        const emails = addressesIn(fieldOf(form, 'emails'));
        const reason = fieldOf(form, 'reason');
        const results: { email: string; added: Added }[] = [];
        for (let start = 0; start < emails.length; start += BATCH) {
          const batch = emails.slice(start, start + BATCH);
          const { data } = await context.api.post<Static<typeof addedBatchSchema>>('/suppressions/batch', {
            suppressions: batch.map((email) => ({ email, reason })),
          });
          results.push(...data.map((added, index) => ({ email: batch[index] ?? '', added })));
        }
        return {
          title: context.texts.suppressions.added,
          body: <Results context={context} results={results} />,
        };
      },
    },
  },
});

/**
 * Returns the addresses of a text, which stand on lines of their own or between commas.
 * @throws AppError validation_error
 */
function addressesIn(text: string): string[] {
  const emails = text
    .split(/[\r\n,;]+/)
    .map((email) => email.trim())
    .filter((email) => email !== '');
  if (emails.length === 0) throw invalid('emails', 'Enter at least one address');
  if (emails.length > MAX_ADDRESSES)
    throw invalid(
      'emails',
      `At most ${MAX_ADDRESSES} addresses can be added at once, and these are ${emails.length}; import a file instead`,
    );
  return emails;
}

type ResultsProps = { context: TenantContext; results: readonly { email: string; added: Added }[] };

function Results({ context, results }: ResultsProps) {
  const { suppressions } = context.texts;
  const { number } = context.formats;
  const refused = results.flatMap(({ email, added }) =>
    'error' in added ? [{ email, message: added.error.message }] : [],
  );
  const created = results.filter(({ added }) => 'created' in added && added.created).length;
  return (
    <>
      <Heading title={suppressions.added} />
      <Facts
        facts={[
          [suppressions.created, number(created)],
          [suppressions.known, number(results.length - created - refused.length)],
          [suppressions.refused, number(refused.length)],
        ]}
      />
      {refused.length > 0 && (
        <Table
          context={context}
          caption={suppressions.refused}
          rows={refused}
          keyOf={({ email }) => email}
          columns={[
            { label: suppressions.email, cell: ({ email }) => <Foreign text={email} /> },
            {
              label: suppressions.error,
              cell: ({ message }) => <Sentence context={context} text={message} />,
            },
          ]}
        />
      )}
      <p>
        <a href={context.at('/suppressions')}>{suppressions.back}</a>
      </p>
    </>
  );
}
