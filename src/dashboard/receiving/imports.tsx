/** The imports of a mailbox from another server, with their progress, and the form for another one. */
import type { Static } from 'typebox';
import { path } from '../../http/json/calls.ts';
import type { mailboxImportSchema } from '../../mailbox-imports/schemas.ts';
import { Foreign, Heading, Sentence, Status, Time, type Tone } from '../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form, Select } from '../frame/forms.tsx';
import { Pager, pageQueryOf, Table } from '../frame/lists.tsx';
import { Refreshed } from '../frame/refreshed.tsx';
import { workName } from '../live/topics.ts';
import { definePage, fieldOf, type TenantContext } from '../page.ts';
import { baseOf, mailboxPageOf } from './mailbox.tsx';
import type { Mailbox } from './mailboxes.tsx';

type Import = Static<typeof mailboxImportSchema>;
type Imports = { data: Import[]; hasMore: boolean };

/** Colours of the states of an import. */
const TONES: Record<Import['status'], Tone> = {
  queued: 'neutral',
  running: 'neutral',
  completed: 'good',
  failed: 'bad',
};

export const mailboxImportsPage = definePage({
  area: 'tenant',
  path: '/mailboxes/:id/imports',
  async show(context) {
    const { api, texts } = context;
    const { imports } = texts;
    const { address } = await api.get<Mailbox>(baseOf(context));
    const page = await api.get<Imports>(`${baseOf(context)}/imports`, pageQueryOf(context.query, []));
    const title = imports.title(address);
    const running = page.data.find(({ status }) => status === 'queued' || status === 'running');
    return {
      title,
      isLive: running !== undefined,
      body: (
        <>
          <Heading title={title}>
            <a href={mailboxPageOf(context)}>{imports.back}</a>
          </Heading>
          {context.can('write') && <NewImport context={context} />}
          <Refreshed
            context={context}
            id="imports"
            topic={workName(context.at(''), `${baseOf(context)}/imports`)}
            isRunning={running !== undefined}
            since={running?.createdAt ?? null}
          >
            <ImportTable context={context} imports={page.data} />
          </Refreshed>
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: ['host', 'port', 'security', 'user'],
      async run(context, form) {
        const port = fieldOf(form, 'port').trim();
        await context.api.post(`${baseOf(context)}/imports`, {
          host: fieldOf(form, 'host').trim(),
          security: fieldOf(form, 'security'),
          user: fieldOf(form, 'user').trim(),
          password: fieldOf(form, 'password'),
          ...(port !== '' && { port: Number(port) }),
        });
        return { to: `${mailboxPageOf(context)}/imports`, said: 'importBegun' };
      },
    },
    delete: {
      logs: ['id'],
      async run(context, form) {
        await context.api.delete(baseOf(context) + path`/imports/${fieldOf(form, 'id')}`);
        return { to: `${mailboxPageOf(context)}/imports`, said: 'deleted' };
      },
    },
  },
});

/** The file with the messages that an import has left out. */
export const mailboxImportErrorsPage = definePage({
  area: 'tenant',
  path: '/mailboxes/:id/imports/:import/errors',
  async show(context) {
    const id = context.params['import'] ?? '';
    const { bytes, mediaType } = await context.api.stream(baseOf(context) + path`/imports/${id}/errors`);
    return { file: { name: `${id}-errors.csv`, mediaType, bytes } };
  },
});

function NewImport({ context }: { context: TenantContext }) {
  const { imports, mailSettings } = context.texts;
  const field = { context, action: 'create' };
  const securities = (['tls', 'starttls'] as const).map((value) => ({
    value,
    label: mailSettings.securities[value],
  }));
  return (
    <Disclosure label={imports.create} isOpen={context.failed?.action === 'create'}>
      <Form context={context} action="create" submit={imports.create}>
        <p>{imports.introduction}</p>
        <Field {...field} name="host" label={imports.host} isRequired />
        <Select {...field} name="security" label={mailSettings.security} options={securities} />
        <Field {...field} name="port" type="number" label={mailSettings.port} help={imports.portHelp} />
        <Field {...field} name="user" label={imports.user} isRequired autocomplete="off" />
        <Field
          {...field}
          name="password"
          type="password"
          label={imports.password}
          help={imports.passwordHelp}
          isRequired
          autocomplete="new-password"
        />
      </Form>
    </Disclosure>
  );
}

function ImportTable({ context, imports: rows }: { context: TenantContext; imports: readonly Import[] }) {
  const { imports, mailboxes, frame } = context.texts;
  const { formats } = context;
  const remove = {
    label: frame.actions,
    cell: ({ id }: Import) => <RemoveImport context={context} id={id} />,
  };
  return (
    <Table
      context={context}
      caption={imports.caption}
      rows={rows}
      keyOf={({ id }) => id}
      empty={imports.none}
      columns={[
        { label: imports.source, cell: ({ user, host }) => <Foreign text={`${user} (${host})`} /> },
        {
          label: mailboxes.status,
          cell: ({ status, reason, error }) => (
            <>
              <Status tone={TONES[status]}>{imports.statuses[status]}</Status>{' '}
              {reason !== null && imports.reasons[reason]}{' '}
              {error !== null && <Sentence context={context} text={error} />}
            </>
          ),
        },
        { label: imports.progress, cell: (row) => <Progress context={context} row={row} /> },
        {
          label: imports.imported,
          cell: (row) => imports.counts(formats.number(row.imported), formats.bytes(row.importedBytes)),
        },
        { label: imports.known, cell: ({ known }) => formats.number(known), isNumeric: true },
        {
          label: imports.failed,
          cell: ({ id, failed }) =>
            failed === 0 ? '0' : <a href={`${context.path}/${id}/errors`}>{formats.number(failed)}</a>,
          isNumeric: true,
        },
        { label: imports.createdAt, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
        ...(context.can('write') ? [remove] : []),
      ]}
    />
  );
}

/** How much of the messages that the import has found so far is done. */
function Progress({ context, row }: { context: TenantContext; row: Import }) {
  const { imports } = context.texts;
  const { formats } = context;
  const done = row.imported + row.known + row.failed;
  return (
    <>
      {row.status === 'running' && (
        <progress value={done} max={Math.max(done, row.messages, 1)} aria-label={imports.progress} />
      )}{' '}
      {imports.folders(formats.number(row.foldersDone), formats.number(row.folders))}
    </>
  );
}

function RemoveImport({ context, id }: { context: TenantContext; id: string }) {
  const { imports, frame } = context.texts;
  return (
    <Disclosure label={frame.delete}>
      <p>{imports.removeText}</p>
      <ActionButton context={context} action="delete" submit={frame.delete} about={{ id }} isDangerous />
    </Disclosure>
  );
}
