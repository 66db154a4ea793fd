/** An import that waits: how its columns are read, what would become of its first rows, and its start. */
import type { Static } from 'typebox';
import type { previewOfContacts } from '../../../audiences/csv/api.ts';
import { path } from '../../../http/json/calls.ts';
import type { Form as FormBody } from '../../../http/pages/form-body.ts';
import { Foreign, Heading } from '../../frame/elements.tsx';
import { ActionButton, Form, Select } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import { withLabels } from '../../frame/refusal.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { translate } from '../../texts/sentences.ts';
import { ALL_TOPICS, listNewest } from '../choices.tsx';
import { ColumnFields } from './columns.tsx';
import { type Mapping, readMapping } from './mapping.ts';

type Preview = Static<typeof previewOfContacts>;

export const importPreviewPage = definePage({
  area: 'tenant',
  path: '/audiences/:audienceId/import/:importId',
  needs: 'write',
  show: (context) => showPreview(context, {}),
  actions: {
    look: {
      isAudited: false,
      run: async (context, form) => showPreview(context, await mappingIn(context, form)),
    },
    start: {
      logs: ['onConflict'],
      async run(context, form) {
        await context.api.post(`${pathOf(context)}/start`, {
          mapping: JSON.stringify(await mappingIn(context, form)),
          onConflict: fieldOf(form, 'onConflict'),
        });
        return { to: context.at(path`/imports/${context.params['importId'] ?? ''}`) };
      },
    },
    discard: {
      async run(context) {
        await context.api.delete(path`/imports/${context.params['importId'] ?? ''}`);
        return { to: context.at(path`/audiences/${context.params['audienceId'] ?? ''}`), said: 'deleted' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/audiences/${params['audienceId'] ?? ''}/contacts/imports/${params['importId'] ?? ''}`;
}

function getPreview({ api, ...context }: TenantContext, mapping: Mapping = {}): Promise<Preview> {
  const isChosen = Object.keys(mapping).length > 0;
  const body = isChosen ? { mapping: JSON.stringify(mapping) } : {};
  return api.post<Preview>(`${pathOf({ api, ...context })}/preview`, body);
}

/** Returns the mapping of a form, which names what differs from what the file itself says. */
async function mappingIn(context: TenantContext, form: FormBody): Promise<Mapping> {
  return readMapping(form, (await getPreview(context)).columns);
}

async function showPreview(context: TenantContext, mapping: Mapping) {
  const { texts, formats, api } = context;
  const { jobs } = texts;
  const preview = await getPreview(context, mapping);
  const topics = await listNewest<{ id: string; name: string }>(api, '/topics', ALL_TOPICS);
  // The page shows the refused rows itself.
  const warnings = preview.warnings.filter((warning) => !warning.includes('`errors`'));
  return {
    title: jobs.import,
    body: (
      <>
        <Heading title={jobs.import}>
          <ActionButton context={context} action="discard" submit={jobs.discard} isDangerous />
        </Heading>
        {warnings.length > 0 && (
          <ul class="notice">
            {warnings.map((warning) => (
              <li key={warning}>
                <Foreign text={warning} />
              </li>
            ))}
          </ul>
        )}
        <p>{jobs.checked(formats.number(preview.checkedRows), formats.number(preview.failed))}</p>
        <Rows context={context} preview={preview} />
        <h2>{jobs.columns}</h2>
        <p>{jobs.columnsText}</p>
        <Form
          context={context}
          action="start"
          submit={jobs.start}
          others={[{ action: 'look', label: jobs.look }]}
        >
          <ColumnFields context={context} columns={preview.columns} topics={topics.data} />
          <Select
            context={context}
            action="start"
            name="onConflict"
            label={jobs.onConflict}
            help={jobs.conflictHelp}
            options={(['update', 'skip'] as const).map((value) => ({
              value,
              label: jobs.onConflicts[value],
            }))}
          />
        </Form>
      </>
    ),
  };
}

function Rows({ context, preview: { rows, errors } }: { context: TenantContext; preview: Preview }) {
  const { jobs, audiences, frame } = context.texts;
  const { quoted } = frame;
  const labelOf = (name: string) => jobs.fields[name];
  const shown = rows.map((row, index) => ({ index, ...(row as ShownRow) }));
  return (
    <>
      <Table
        context={context}
        caption={jobs.firstRows}
        rows={shown}
        keyOf={({ index }) => String(index)}
        columns={[
          { label: audiences.email, cell: ({ email }) => <Foreign text={email} /> },
          { label: audiences.fields.firstName, cell: ({ firstName }) => <Foreign text={firstName} /> },
          { label: audiences.fields.lastName, cell: ({ lastName }) => <Foreign text={lastName} /> },
          { label: audiences.status, cell: ({ status }) => audiences.statuses[status] },
          {
            label: audiences.properties,
            cell: ({ properties }) => (
              <Foreign
                text={Object.entries(properties)
                  .map(([key, value]) => `${key}: ${value}`)
                  .join(', ')}
              />
            ),
          },
        ]}
      />
      {errors.length > 0 && (
        <Table
          context={context}
          caption={jobs.refusedRows}
          rows={errors}
          keyOf={({ line }) => String(line)}
          columns={[
            { label: jobs.line, cell: ({ line }) => String(line), isNumeric: true },
            { label: audiences.email, cell: ({ email }) => <Foreign text={email} /> },
            {
              label: jobs.problem,
              cell: ({ error }) => {
                const { text, lang } = translate(context.formats.language, error);
                return <Foreign text={withLabels(text, labelOf, quoted)} lang={lang} />;
              },
            },
          ]}
        />
      )}
    </>
  );
}

/** A row of the preview, whose schema leaves its fields open. */
type ShownRow = {
  email: string;
  firstName: string | null;
  lastName: string | null;
  status: 'subscribed' | 'unsubscribed' | 'pending';
  properties: Record<string, string | number | boolean>;
};
