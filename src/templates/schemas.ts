/** Shapes of the templates API (specification 2.4 and 4.4, api.md 1.6), and what their text must be. */
import { type Static, Type } from 'typebox';
import type { TemplateRow } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import { findVariables } from './render.ts';

/** api.md 1.10. */
const MOST_NAME_CHARACTERS = 200;
export const MOST_SOURCE_BYTES = 1024 * 1024;
/** The same holds for the variables of an email. */
export const MOST_VARIABLES = 50;
/** api.md 1.2, of an email; what that of a template renders to is measured again at sending. */
export const MOST_SUBJECT_CHARACTERS = 998;

/** Neither control characters (C0, DEL) nor lone surrogates. */
const LINE = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$';

export const newTemplateSchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: MOST_NAME_CHARACTERS, pattern: LINE }),
  subject: Type.String({
    minLength: 1,
    maxLength: MOST_SUBJECT_CHARACTERS,
    pattern: LINE,
    description: 'May hold {{variable}} placeholders.',
  }),
  html: Type.String({
    minLength: 1,
    description:
      '`{{name}}` is filled in escaped, `{{{name}}}` as it is; `{{name|there}}` has a fallback. At most 1 MiB.',
  }),
  text: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Generated from the HTML when absent. At most 1 MiB.',
    }),
  ),
});
export type NewTemplate = Static<typeof newTemplateSchema>;

const summary = {
  id: Type.String(),
  name: Type.String(),
  subject: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
};

export const templateSummarySchema = Type.Object(summary);

export const templateSchema = Type.Object(
  {
    ...summary,
    html: Type.String(),
    text: Type.Union([Type.String(), Type.Null()]),
    variables: Type.Array(Type.Object({ name: Type.String(), fallback: Type.Optional(Type.String()) }), {
      description: 'Every variable that stands in the subject, the HTML or the text.',
    }),
  },
  { description: 'Template' },
);

/** @throws AppError validation_error naming the field */
export function checkTemplate({ subject, html, text }: NewTemplate): void {
  checkSource('html', html);
  if (typeof text === 'string') checkSource('text', text);
  const { length } = findVariables([subject, html, text ?? '']);
  if (length > MOST_VARIABLES) {
    throw invalid('html', `A template may hold ${MOST_VARIABLES} variables; this one holds ${length}`);
  }
}

function checkSource(field: 'html' | 'text', source: string): void {
  if (source.includes('\0')) throw invalid(field, `\`${field}\` must not contain NUL`);
  if (!source.isWellFormed()) throw invalid(field, `\`${field}\` must be well-formed Unicode`);
  if (Buffer.byteLength(source) > MOST_SOURCE_BYTES)
    throw invalid(field, `\`${field}\` must be at most 1 MiB`);
}

export type TemplateSummary = Omit<TemplateRow, 'html' | 'text'>;

export function showTemplateSummary(row: TemplateSummary): Static<typeof templateSummarySchema> {
  return {
    id: row.id,
    name: row.name,
    subject: row.subject,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

export function showTemplate(row: TemplateRow): Static<typeof templateSchema> {
  const { subject, html, text } = row;
  return { ...showTemplateSummary(row), html, text, variables: findVariables([subject, html, text ?? '']) };
}
