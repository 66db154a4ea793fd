/** Schemas of the versions of templates. */
import { type Static, Type } from 'typebox';
import type { TemplateVersionRow } from '../db/marketing-tables.ts';
import { isoTime } from '../system/clock.ts';
import type { TemplateVersion } from './versions-store.ts';

const summary = {
  id: Type.String(),
  subject: Type.String(),
  keyId: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the API key that made the content; null when a person did, or when it is not known.',
  }),
  personId: Type.Union([Type.String(), Type.Null()], {
    description: 'Id of the person that made the content in the dashboard; null otherwise.',
  }),
  createdAt: Type.String({ description: 'Time at which the template got the content.' }),
};

const EXAMPLE = {
  id: 'tpv_01khq3z5vgxw1r8t6n2m4c9b7d',
  subject: 'Welcome, {{firstName|friend}}',
  keyId: 'key_01khq3z5vgxw1r8t6n2m4c9b7d',
  personId: null,
  createdAt: '2026-03-01T09:00:00.000Z',
};

export const templateVersionSummarySchema = Type.Object(summary, {
  title: 'TemplateVersionSummary',
  examples: [EXAMPLE],
});

export const templateVersionSchema = Type.Object(
  { ...summary, html: Type.String(), text: Type.Union([Type.String(), Type.Null()]) },
  {
    title: 'TemplateVersion',
    examples: [{ ...EXAMPLE, html: '<p>Your account at {{company}} is ready.</p>', text: null }],
  },
);

/** Returns a version as the list shows it. */
export function showVersionSummary({
  id,
  subject,
  keyId,
  personId,
  createdAt,
}: TemplateVersionRow): Static<typeof templateVersionSummarySchema> {
  return { id, subject, keyId, personId, createdAt: isoTime(createdAt) };
}

/** Returns a version as the API shows it. */
export function showVersion(version: TemplateVersion): Static<typeof templateVersionSchema> {
  return { ...showVersionSummary(version), html: version.html, text: version.text };
}
