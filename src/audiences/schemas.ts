/** Schemas of the audiences API (specification 2.5 and 4.7). */
import { type Static, Type } from 'typebox';
import type { AudienceRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { MAX_SUBJECT_CHARACTERS } from '../templates/render.ts';
import { CONFIRM_URL, LANGUAGES, optInOf } from './opt-in/settings.ts';

/** Maximum length of a name. */
const MAX_NAME_CHARACTERS = 200;

const name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: PLAIN_TEXT });

const settingText = (maxLength: number) =>
  Type.Union([Type.String({ minLength: 1, maxLength, pattern: PLAIN_TEXT }), Type.Null()]);

const optIn = Type.Union(
  [
    Type.Object({
      from: Type.String({ description: 'Sender of the confirmation mail, at a verified domain.' }),
      replyTo: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      subject: Type.Optional(settingText(MAX_SUBJECT_CHARACTERS)),
      templateId: Type.Optional(
        Type.Union([Type.String(), Type.Null()], {
          description: `Template of the mail, with {{{${CONFIRM_URL}}}} for the link. Without one, a plain mail in the \`language\` is sent.`,
        }),
      ),
      language: Type.Optional(Type.Enum(LANGUAGES, { description: 'Default en.' })),
    }),
    Type.Null(),
  ],
  {
    description:
      'Double opt-in: the confirmation mail of pending contacts. Null when contacts cannot be pending.',
  },
);

export const newAudienceSchema = Type.Object(
  { name, optIn: Type.Optional(optIn) },
  {
    examples: [
      { name: 'Newsletter readers', optIn: { from: 'Acme News <news@acme.example>', language: 'de' } },
    ],
  },
);

export const audienceChangeSchema = Type.Object(
  { name: Type.Optional(name), optIn: Type.Optional(optIn) },
  { examples: [{ name: 'Readers of the monthly letter' }] },
);

/** A checked change; `optIn` is in its stored form. */
export type AudienceChange = { name?: string; optIn?: string | null };

export const audienceSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    contactCount: Type.Integer({ description: 'Number of contacts, unsubscribed ones included.' }),
    optIn,
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
        optIn: null,
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
    optIn: optInOf(row) ?? null,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
