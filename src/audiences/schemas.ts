/** Schemas of the audiences API (specification 2.5 and 4.7). */
import { type Static, Type } from 'typebox';
import type { AudienceRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';

/** Maximum length of a name. Our own limit. */
const MAX_NAME_CHARACTERS = 200;

const name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: PLAIN_TEXT });

export const newAudienceSchema = Type.Object({ name }, { examples: [{ name: 'Newsletter readers' }] });

export const audienceChangeSchema = Type.Object(
  { name: Type.Optional(name) },
  { examples: [{ name: 'Readers of the monthly letter' }] },
);
export type AudienceChange = Static<typeof audienceChangeSchema>;

export const audienceSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    contactCount: Type.Integer({ description: 'Number of contacts, unsubscribed ones included.' }),
    createdAt: Type.String(),
    updatedAt: Type.String({
      description: 'Time of the last change of the audience itself. A change of its contacts does not count.',
    }),
  },
  {
    title: 'Audience',
    examples: [
      {
        id: 'aud_01khq3z5vgxw1r8t6n2m4c9b7d',
        name: 'Newsletter readers',
        contactCount: 1250,
        createdAt: '2026-03-01T09:00:00.000Z',
        updatedAt: '2026-03-01T09:00:00.000Z',
      },
    ],
  },
);

/** Returns an audience as the API shows it. */
export function showAudience(row: AudienceRow): Static<typeof audienceSchema> {
  return {
    id: row.id,
    name: row.name,
    contactCount: row.contactCount,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
