/**
 * Stores the versions of templates. All SQL of their two tables is here, and nothing else writes them. Each content that a template gets is a
 * version, so the newest one is the current content. HTML and text are stored once: in the template while they are current, and beside the
 * versions afterwards.
 */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { TemplateRow, TemplateVersionRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { countRows, findColumns, insertRow, insertRowOnce } from '../db/rows.ts';
import { newId } from '../system/ids.ts';

/** Maximum number of versions of a template, the current one among them. The oldest is deleted when there are more. Our own limit. */
export const MAX_VERSIONS = 50;
/**
 * Maximum size of the former HTML and texts of a template in UTF-8: those of 40 versions of 100 KiB, or of two of the largest ones. It keeps a
 * tenant that changes its templates without end from filling the disk of all tenants. Our own limit.
 */
export const MAX_FORMER_BYTES = 4 * 1024 * 1024;
/**
 * Size of the former HTML and texts of all templates of a tenant, of which each template has the same share when there are many of them. A
 * template keeps what it has until its next change, so that a tenant which adds templates one by one has up to six times as much. Our own limit.
 */
const FORMER_BYTES_OF_TENANT = 512 * 1024 * 1024;
/** Minimum share of a template: one former version of ordinary size, however many templates there are. */
const MIN_FORMER_BYTES = 128 * 1024;

/** Returns the maximum size of the former HTML and texts of each template of a tenant that has so many templates. */
export function maxFormerBytes(templates: number): number {
  const share = Math.floor(FORMER_BYTES_OF_TENANT / Math.max(templates, 1));
  return Math.min(MAX_FORMER_BYTES, Math.max(MIN_FORMER_BYTES, share));
}

/** The contents before and after a change. The former one becomes a version when the template has none yet. */
export type VersionChange = { former: TemplateVersionRow; made: TemplateVersionRow };

export type TemplateVersion = TemplateVersionRow & Pick<TemplateRow, 'html' | 'text'>;

/** Whoever made a content: an API key, or a person in the dashboard. */
type Author = Pick<TemplateVersionRow, 'keyId' | 'personId'>;

/** The author of a content from before versions were kept. */
export const NOBODY: Author = { keyId: null, personId: null };

/** Returns the version that has the content of a template. */
export function versionOf(
  { id, tenantId, subject, html, text, updatedAt }: TemplateRow,
  { keyId, personId }: Author,
): TemplateVersionRow {
  return {
    id: newId('tpv', updatedAt),
    tenantId,
    templateId: id,
    subject,
    htmlHash: hashOf('html', html),
    textHash: text === null ? null : hashOf('text', text),
    keyId,
    personId,
    createdAt: updatedAt,
  };
}

/** The name of the field is part of the hash, so that a hash stands for either HTML or text. */
function hashOf(field: 'html' | 'text', content: string): string {
  return hash('sha256', `${field}\n${content}`, 'base64url');
}

/** Records the first version of a new template. It is part of the write that stores the template. */
export async function recordFirstVersion(tx: Tx, version: TemplateVersionRow): Promise<void> {
  await insertRow(tx, 'templateVersions', version);
}

/**
 * Records the version that a change makes, and keeps the former HTML and text. It is part of the write that changes the template; `before` is
 * the template before the change.
 */
export async function recordVersion(
  tx: Tx,
  before: TemplateRow,
  { former, made }: VersionChange,
): Promise<void> {
  const { id: templateId, tenantId } = before;
  const known = await findColumns(tx, 'templateVersions', { select: ['id'], where: { templateId } });
  if (!known) await insertRow(tx, 'templateVersions', former);
  await insertRow(tx, 'templateVersions', made);
  const current = [made.htmlHash, made.textHash];
  for (const [key, content] of [
    [former.htmlHash, before.html] as const,
    [former.textHash, before.text] as const,
  ])
    if (key !== null && content !== null && !current.includes(key))
      await insertRowOnce(tx, 'templateTexts', { templateId, tenantId, hash: key, content });
  await removeOldVersions(tx, made);
}

/** Deletes the oldest versions beyond the limits, and the texts that no former version has any more. */
async function removeOldVersions(tx: Tx, current: TemplateVersionRow): Promise<void> {
  const { templateId, tenantId } = current;
  const versions = await tx
    .selectFrom('templateVersions')
    .select('id')
    .where('templateId', '=', templateId)
    .orderBy('id')
    .execute();
  const maxBytes = maxFormerBytes(await countRows(tx, 'templates', { tenantId }));
  let excess = versions.length - MAX_VERSIONS;
  for (const { id } of versions.slice(0, -1)) {
    if (excess <= 0) {
      await removeUnusedTexts(tx, current);
      if ((await countFormerBytes(tx, templateId)) <= maxBytes) return;
    }
    await tx.deleteFrom('templateVersions').where('id', '=', id).execute();
    excess--;
  }
  await removeUnusedTexts(tx, current);
}

async function removeUnusedTexts(
  tx: Tx,
  { templateId, htmlHash, textHash }: TemplateVersionRow,
): Promise<void> {
  await sql`DELETE FROM "templateTexts" WHERE "templateId" = ${templateId} AND (
    hash IN (${htmlHash}, ${textHash ?? htmlHash})
    OR hash NOT IN (
      SELECT "htmlHash" FROM "templateVersions" WHERE "templateId" = ${templateId}
      UNION SELECT "textHash" FROM "templateVersions"
        WHERE "templateId" = ${templateId} AND "textHash" IS NOT NULL))`.execute(tx);
}

async function countFormerBytes(tx: Tx, templateId: TemplateRow['id']): Promise<number> {
  const { rows } = await sql<{ bytes: number | null }>`SELECT sum(octet_length(content)) AS bytes
    FROM "templateTexts" WHERE "templateId" = ${templateId}`.execute(tx);
  return rows[0]?.bytes ?? 0;
}

/** Returns a page of the versions of a template, newest first, without their HTML and text. */
export function listVersions(
  tx: Tx,
  tenantId: TemplateVersionRow['tenantId'],
  { templateId, ...page }: PageRequest & Pick<TemplateVersionRow, 'templateId'>,
): Promise<Page<TemplateVersionRow>> {
  const versions = tx
    .selectFrom('templateVersions')
    .selectAll()
    .where('templateId', '=', templateId)
    .where('tenantId', '=', tenantId);
  return readPage(page, (slice) => inSlice(versions, 'id', slice).execute());
}

/**
 * Returns a version with its HTML and text, or undefined when the template of this tenant has no such version. One statement reads everything:
 * a change between two of them would move the content.
 */
export async function findVersion(
  tx: Tx,
  tenantId: TemplateVersionRow['tenantId'],
  { templateId, id }: { templateId: string; id: string },
): Promise<TemplateVersion | undefined> {
  const { rows } = await sql<TemplateVersion>`
    SELECT version.*, coalesce(former_html.content, template.html) AS html,
      CASE WHEN version."textHash" IS NOT NULL THEN coalesce(former_text.content, template.text) END AS text
    FROM "templateVersions" version
    JOIN templates template ON template.id = version."templateId"
    LEFT JOIN "templateTexts" former_html
      ON former_html."templateId" = version."templateId" AND former_html.hash = version."htmlHash"
    LEFT JOIN "templateTexts" former_text
      ON former_text."templateId" = version."templateId" AND former_text.hash = version."textHash"
    WHERE version.id = ${id} AND version."templateId" = ${templateId} AND version."tenantId" = ${tenantId}`.execute(
    tx,
  );
  return rows[0];
}
