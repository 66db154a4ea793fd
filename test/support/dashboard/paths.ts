/** Paths of all pages of the dashboard with the ids of a tenant that has one of every resource (test/support/resources). */
import assert from 'node:assert/strict';
import type { PageDefinition } from '../../../src/dashboard/page.ts';
import { routeOf } from '../../../src/dashboard/routes.ts';
import type { Mode } from '../../../src/db/tables.ts';
import { addReceived, WITH_FILE } from '../../inbound/fixtures.ts';
import type { Party, Populated } from '../resources/populated.ts';
import type { Prefix } from '../resources/resource.ts';
import { rowOf } from '../resources/resources.ts';

/** Resources that pages show and that have no row in resources.ts: files of suppressions, and a file of contacts that waits for its mapping. */
type Files = { suppressionImport: string; suppressionExport: string; waitingImport: string };

/** A tenant in one mode, with what its pages show. */
export type Shown = Pick<Party, 'ids' | 'tenantId'> & { tenantName: string; mode: Mode; files: Files };

/** Resources of each parameter, by the segment before it. A page with a new parameter needs a line here. */
const RESOURCES: Readonly<Record<string, Prefix | ((shown: Shown) => string)>> = {
  'approvals/:id': 'apr',
  'audiences/:audienceId': 'aud',
  'broadcasts/:broadcastId': 'brd',
  'contacts/:contactId': 'ct',
  'deliveries/:delivery': 'whd',
  'domains/:id': 'dom',
  'domains/:domain': () => 'rcpt.example',
  'emails/:id': 'em',
  'exports/:exportId': 'exp',
  'exports/:id': ({ files }) => files.suppressionExport,
  'files/:number': () => '1',
  'import/:importId': ({ files }) => files.waitingImport,
  'imports/:id': ({ files }) => files.suppressionImport,
  'imports/:import': 'mim',
  'imports/:importId': 'imp',
  'inbound/:id': 'in',
  'keys/:id': 'key',
  'mailboxes/:id': 'mbx',
  'routes/:id': 'rt',
  'rules/:number': () => '1',
  'segments/:segmentId': 'seg',
  'templates/:id': 'tpl',
  'tenants/:id': ({ tenantId }) => tenantId,
  'topics/:topicId': 'top',
  'versions/:version': 'tpv',
  'webhooks/:id': 'wh',
};

/** Kinds of resources that belong to one mode. */
export const MODAL: readonly Prefix[] = ['apr', 'brd', 'em', 'key', 'wh', 'whd'];

/** Returns the path of a page. */
export function pathOf(page: PageDefinition, shown: Shown): string {
  const { tenantName, mode } = shown;
  const route = routeOf(page).replace(':tenant', tenantName).replace(':mode', mode);
  return route.replace(/([\w-]+)\/(:\w+)/g, (_, segment: string, parameter: string) => {
    const resource = RESOURCES[`${segment}/${parameter}`];
    assert.ok(resource, `paths.ts does not know what ${segment}/${parameter} of ${route} is`);
    return `${segment}/${typeof resource === 'string' ? shown.ids[resource] : resource(shown)}`;
  });
}

/** Returns true when a page is about something that has an id or a number. */
export function hasParameters(page: Pick<PageDefinition, 'area' | 'path'>): boolean {
  return page.path.includes(':');
}

/** Returns what the pages of a tenant show in a mode, and creates what the tenant does not have in it yet. */
export async function fillMode(
  world: Populated,
  party: Party,
  { tenantName, mode }: { tenantName: string; mode: Mode },
): Promise<Shown> {
  const ids = { ...party.ids };
  if (mode === 'live')
    for (const prefix of MODAL) ids[prefix] = await world.make(party, prefix, { ids, mode });
  const wanted = world.wanted(party, { ids, mode });
  const email = { ...rowOf('em').body?.(wanted), html: '<p>Hello Bob</p>', attachments: [FILE] };
  ids.em = (await wanted.post('/v1/emails', email)).id;
  ids.in = await addReceived(world.testApp, { tenantId: party.tenantId, text: WITH_HTML_AND_FILE });
  return { ids, tenantId: party.tenantId, tenantName, mode, files: await addFiles(world, party) };
}

const FILE = { filename: 'list.csv', content: Buffer.from('a,b').toString('base64') };
const WITH_HTML_AND_FILE = WITH_FILE.replace(
  '\r\n\r\nHi\r\n',
  '\r\nContent-Type: text/html\r\n\r\n<p>Hi</p>\r\n',
);

async function addFiles(world: Populated, party: Party): Promise<Files> {
  const { post, postCsv, ids } = world.wanted(party);
  const rows = 'email\r\nsomebody@rcpt.example\r\nnobody\r\n';
  const { id: suppressionImport } = await postCsv('/v1/suppressions/imports', rows);
  const { id: suppressionExport } = await post('/v1/suppressions/exports', {});
  await world.runJobs(party);
  const waiting = `/v1/audiences/${ids.aud}/contacts/imports?wait=true`;
  const { id: waitingImport } = await postCsv(waiting, rows);
  return { suppressionImport, suppressionExport, waitingImport };
}
