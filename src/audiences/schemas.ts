/** Shapes of the audiences API (specification 2.5 and 4.7, api.md 1.6). */
import { type Static, Type } from 'typebox';
import type { AudienceRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/plain-text.ts';
import { isoTime } from '../system/clock.ts';

/** api.md 1.10. */
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
    contactCount: Type.Integer({ description: 'The unsubscribed among them.' }),
    createdAt: Type.String(),
    updatedAt: Type.String({ description: 'Of its own fields; its contacts have their own.' }),
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

export function showAudience(row: AudienceRow): Static<typeof audienceSchema> {
  return {
    id: row.id,
    name: row.name,
    contactCount: row.contactCount,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
