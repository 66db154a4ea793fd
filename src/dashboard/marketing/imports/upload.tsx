/** The upload of a file of contacts, and the imports of the last days. */

import { path } from '../../../http/json/calls.ts';
import { MAX_CSV_BODY_BYTES } from '../../../http/json/csv-body.ts';
import { Heading, Status, Time } from '../../frame/elements.tsx';
import { Field, Form } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import type { Import } from '../../jobs/results.tsx';
import { JOB_TONES } from '../../jobs/tones.ts';
import { definePage, type TenantContext } from '../../page.ts';
import { TranslatedRefusal } from '../../texts/refusal.ts';
import type { Audience } from '../audiences/list.tsx';

const MIB = 1024 * 1024;
/** Maximum size of a form beside its file. */
const MAX_FIELD_BYTES = MIB / 16;
/** Number of imports that are listed. */
const LISTED = 10;

export const uploadPage = definePage({
  area: 'tenant',
  path: '/audiences/:audienceId/import',
  needs: 'write',
  upload: { maxBytes: MAX_CSV_BODY_BYTES + MAX_FIELD_BYTES, maxFiles: 1 },
  async show(context) {
    const { api, texts, formats, at } = context;
    const { jobs } = texts;
    const { id, name } = await api.get<Audience>(pathOf(context));
    const imports = await api.get<{ data: Import[] }>('/imports', { audienceId: id, limit: LISTED });
    return {
      title: jobs.importInto(name),
      body: (
        <>
          <Heading title={jobs.importInto(name)}>
            <a href={at(`/audiences/${id}`)}>{jobs.toAudience}</a>
          </Heading>
          <Form context={context} action="upload" submit={jobs.upload} hasFiles>
            <Field
              context={context}
              action="upload"
              name="file"
              type="file"
              label={jobs.file}
              help={jobs.fileHelp(formats.bytes(MAX_CSV_BODY_BYTES))}
              isRequired
            />
          </Form>
          <ImportTable context={context} imports={imports.data} />
        </>
      ),
    };
  },
  actions: {
    upload: {
      async run(context, form) {
        const [file] = form.files;
        if (!file || file.bytes.length === 0)
          throw new TranslatedRefusal('validation_error', context.texts.jobs.noFile, { param: 'file' });
        const imports = `${pathOf(context)}/contacts/imports?wait=true`;
        const { id } = await context.api.upload<Import>(imports, file.bytes, 'text/csv');
        return { to: context.at(`/imports/${id}`) };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/audiences/${params['audienceId'] ?? ''}`;
}

function ImportTable({ context, imports }: { context: TenantContext; imports: Import[] }) {
  const { texts, formats, at } = context;
  const { jobs } = texts;
  return (
    <>
      <h2>{jobs.before}</h2>
      <Table
        context={context}
        caption={jobs.before}
        rows={imports}
        keyOf={({ id }) => id}
        empty={jobs.noImports}
        columns={[
          {
            label: jobs.created,
            cell: ({ id, createdAt }) => (
              <a href={at(`/imports/${id}`)}>
                <Time context={context} at={createdAt} />
              </a>
            ),
          },
          {
            label: jobs.status,
            cell: ({ status }) => <Status tone={JOB_TONES[status]}>{jobs.statuses[status]}</Status>,
          },
          { label: jobs.rows, cell: ({ rows }) => formats.number(rows), isNumeric: true },
          { label: jobs.failedRows, cell: ({ failed }) => formats.number(failed), isNumeric: true },
        ]}
      />
    </>
  );
}
