/** Files of suppressions: imports and exports, which go on after the form was sent. */
import type { Static } from 'typebox';
import type { exportSchema } from '../../../exports/schemas.ts';
import { MAX_CSV_BODY_BYTES } from '../../../http/json/csv-body.ts';
import type { pageSchema } from '../../../http/json/page.ts';
import type { importSchema } from '../../../imports/schemas.ts';
import { invalid } from '../../../system/errors.ts';
import { Heading, Status, Time } from '../../frame/elements.tsx';
import { Field, Form, Select } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import type { Export, Import } from '../../jobs/results.tsx';
import { JOB_TONES } from '../../jobs/tones.ts';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { reasonOptions } from './list.tsx';

type Imports = Static<ReturnType<typeof pageSchema<typeof importSchema>>>;
type Exports = Static<ReturnType<typeof pageSchema<typeof exportSchema>>>;

const MIB = 1024 * 1024;
/** Maximum size of a form beside its file. */
const MAX_FIELD_BYTES = MIB / 16;

export const suppressionFilesPage = definePage({
  area: 'tenant',
  path: '/suppressions/files',
  upload: { maxBytes: MAX_CSV_BODY_BYTES + MAX_FIELD_BYTES, maxFiles: 1 },
  async show(context) {
    const { suppressions } = context.texts;
    const query = { kind: 'suppressions' };
    const [imports, exports] = await Promise.all([
      context.api.get<Imports>('/imports', query),
      context.api.get<Exports>('/exports', query),
    ]);
    return {
      title: suppressions.files,
      body: (
        <>
          <Heading title={suppressions.files}>
            <a href={context.at('/suppressions')}>{suppressions.back}</a>
          </Heading>
          {context.can('write') && <NewFiles context={context} />}
          <Jobs context={context} caption={suppressions.imports} of="imports" rows={imports.data} />
          <Jobs context={context} caption={suppressions.exports} of="exports" rows={exports.data} />
        </>
      ),
    };
  },
  actions: {
    import: {
      logs: ['reason'],
      async run({ api, at }, form) {
        const [file] = form.files;
        if (!file || file.bytes.length === 0) throw invalid('file', 'Choose a file that is not empty');
        const query = new URLSearchParams({ reason: fieldOf(form, 'reason') });
        const { id } = await api.upload<Import>(`/suppressions/imports?${query}`, file.bytes, 'text/csv');
        return { to: at(`/suppressions/imports/${id}`) };
      },
    },
    export: {
      logs: ['reason'],
      async run({ api, at }, form) {
        const reason = fieldOf(form, 'reason');
        const { id } = await api.post<Export>('/suppressions/exports', reason === '' ? {} : { reason });
        return { to: at(`/suppressions/exports/${id}`) };
      },
    },
  },
});

function NewFiles({ context }: { context: TenantContext }) {
  const { suppressions, frame } = context.texts;
  const reasons = reasonOptions(context);
  return (
    <>
      <h2>{suppressions.import}</h2>
      <p>{suppressions.importText(context.formats.bytes(MAX_CSV_BODY_BYTES))}</p>
      <Form context={context} action="import" submit={suppressions.import} hasFiles>
        <Field
          context={context}
          action="import"
          name="file"
          type="file"
          label={suppressions.file}
          isRequired
        />
        <Select
          context={context}
          action="import"
          name="reason"
          label={suppressions.defaultReason}
          value="manual"
          options={reasons}
        />
      </Form>
      <h2>{suppressions.export}</h2>
      <Form context={context} action="export" submit={suppressions.export}>
        <Select
          context={context}
          action="export"
          name="reason"
          label={suppressions.reason}
          options={[{ value: '', label: frame.all }, ...reasons]}
        />
      </Form>
    </>
  );
}

type JobsProps = {
  context: TenantContext;
  caption: string;
  of: 'imports' | 'exports';
  rows: readonly (Import | Export)[];
};

function Jobs({ context, caption, of, rows: listed }: JobsProps) {
  const { jobs, suppressions } = context.texts;
  return (
    <>
      <h2>{caption}</h2>
      <Table
        context={context}
        caption={caption}
        rows={listed}
        keyOf={({ id }) => id}
        columns={[
          {
            label: suppressions.createdAt,
            cell: ({ id, createdAt }) => (
              <a href={context.at(`/suppressions/${of}/${id}`)}>
                <Time context={context} at={createdAt} />
              </a>
            ),
          },
          {
            label: jobs.status,
            cell: ({ status }) => <Status tone={JOB_TONES[status]}>{jobs.statuses[status]}</Status>,
          },
          {
            label: jobs.rows,
            isNumeric: true,
            cell: ({ rows }) => context.formats.number(rows),
          },
        ]}
      />
    </>
  );
}
