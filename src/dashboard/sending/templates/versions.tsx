/** The contents that a template has had, the newest first, and bringing one of them back. */
import type { Static } from 'typebox';
import { path } from '../../../http/json/calls.ts';
import type { pageSchema } from '../../../http/json/page.ts';
import type {
  templateVersionSchema,
  templateVersionSummarySchema,
} from '../../../templates/version-schemas.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import { Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { Source } from '../../frame/source.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { listMembers } from '../../people/memberships-store.ts';
import { showPreview } from './editor.tsx';

type Version = Static<typeof templateVersionSchema>;
type Summary = Static<typeof templateVersionSummarySchema>;
type Versions = Static<ReturnType<typeof pageSchema<typeof templateVersionSummarySchema>>>;

export const templateVersionsPage = definePage({
  area: 'tenant',
  path: '/templates/:id/versions',
  async show(context) {
    const { templates } = context.texts;
    const page = await context.api.get<Versions>(
      `${templatePath(context)}/versions`,
      pageQueryOf(context.query, []),
    );
    const members = await listMembers(context.app.db.read, context.tenant.tenantId);
    const names = new Map<string, string>(members.map(({ id, name }) => [id, name]));
    return {
      title: templates.versions,
      body: (
        <>
          <Heading title={templates.versions}>
            <BackLink context={context} />
          </Heading>
          <p>{templates.versionsText}</p>
          <Table
            context={context}
            caption={templates.versions}
            rows={page.data}
            keyOf={({ id }) => id}
            columns={[
              {
                label: templates.since,
                cell: ({ id, createdAt }) => (
                  <a href={`${context.path}/${id}`}>
                    <Time context={context} at={createdAt} />
                  </a>
                ),
              },
              { label: templates.subject, cell: ({ subject }) => <Foreign text={subject} /> },
              {
                label: templates.author,
                cell: (version) => <Author context={context} version={version} names={names} />,
              },
            ]}
          />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});

export const templateVersionPage = definePage({
  area: 'tenant',
  path: '/templates/:id/versions/:version',
  async show(context) {
    const { templates } = context.texts;
    const { subject, html, text, createdAt } = await getVersion(context);
    return {
      title: subject,
      body: (
        <>
          <Heading title={subject}>
            <BackLink context={context} />
            {context.can('write') && (
              <ActionButton context={context} action="restore" submit={templates.restore} />
            )}
          </Heading>
          <p>
            {templates.since}: <Time context={context} at={createdAt} />
          </p>
          <iframe class="preview" title={templates.preview} sandbox="" src={`${context.path}/preview`} />
          <h2>{templates.html}</h2>
          <Source label={templates.html} text={html} />
          {text !== null && (
            <>
              <h2>{templates.text}</h2>
              <Source label={templates.text} text={text} />
            </>
          )}
        </>
      ),
    };
  },
  actions: {
    restore: {
      async run(context) {
        await context.api.post(`${versionPath(context)}/restore`);
        return { to: context.at(`/templates/${context.params['id']}`), said: 'restored' };
      },
    },
  },
});

/** The HTML of a version, whose variables have their fallbacks. */
export const templateVersionPreviewPage = definePage({
  area: 'tenant',
  path: '/templates/:id/versions/:version/preview',
  async show(context) {
    const { subject, html, text } = await getVersion(context);
    return showPreview(context, { subject, html, text }, { values: '', part: 'html' });
  },
});

function templatePath({ params }: TenantContext): string {
  return path`/templates/${params['id'] ?? ''}`;
}

function versionPath(context: TenantContext): string {
  return templatePath(context) + path`/versions/${context.params['version'] ?? ''}`;
}

function getVersion(context: TenantContext): Promise<Version> {
  return context.api.get<Version>(versionPath(context));
}

function BackLink({ context }: { context: TenantContext }) {
  return <a href={context.at(`/templates/${context.params['id']}`)}>{context.texts.templates.toTemplate}</a>;
}

type AuthorProps = { context: TenantContext; version: Summary; names: ReadonlyMap<string, string> };

/** Whoever made a version: a person, also one who has left, or an API key. */
function Author({ context, version: { keyId, personId }, names }: AuthorProps) {
  const { templates } = context.texts;
  if (keyId !== null) return <a href={context.at(`/keys/${keyId}`)}>{templates.byKey}</a>;
  if (personId === null) return <span class="muted">{templates.byUnknown}</span>;
  return <Foreign text={names.get(personId) ?? templates.byFormer} />;
}
