/** Schemas of the templates API (specification 2.4 and 4.4), and the rules for the text of a template. */
import { type Static, Type } from 'typebox';
import type { TemplateRow } from '../db/marketing-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import { MAX_SUBJECT_CHARACTERS } from './render.ts';
import { findUnknownTags, findVariables, type Source } from './tags.ts';

/** Maximum length of a name. */
const MAX_NAME_CHARACTERS = 200;
export const MAX_SOURCE_BYTES = 1024 * 1024;
/** Maximum number of variables of a template, and of an email. */
export const MAX_VARIABLES = 50;

export const templateFields = {
  name: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_CHARACTERS,
    pattern: PLAIN_TEXT,
    description: 'Name for your own use. Several templates may have the same name.',
  }),
  subject: Type.String({
    minLength: 1,
    maxLength: MAX_SUBJECT_CHARACTERS,
    pattern: PLAIN_TEXT,
    description: 'Subject, which may contain {{variable}} placeholders.',
  }),
  html: Type.String({
    minLength: 1,
    description:
      '`{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is percent-encoded, unless it is the ' +
      'whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.',
  }),
  text: Type.Union([Type.String(), Type.Null()], {
    description: 'Generated from the HTML when absent. At most 1 MiB.',
  }),
};

const EXAMPLE = {
  name: 'Welcome',
  subject: 'Welcome, {{firstName|friend}}',
  html: '<p>Your account at {{company}} is ready.</p>',
  text: 'Your account at {{company}} is ready.',
};

export const newTemplateSchema = Type.Object(
  { ...templateFields, text: Type.Optional(templateFields.text) },
  { examples: [EXAMPLE] },
);
export type NewTemplate = Static<typeof newTemplateSchema>;

export const templateChangeSchema = Type.Partial(Type.Object(templateFields), {
  examples: [{ subject: 'Welcome to {{company}}', text: null }],
});
export type TemplateChange = Static<typeof templateChangeSchema>;

export const templateFilter = {
  name: Type.Optional(Type.String({ description: 'Only templates with exactly this name.' })),
};

const summary = {
  id: Type.String(),
  name: Type.String(),
  subject: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
};

const SUMMARY_EXAMPLE = {
  id: 'tpl_01khq3z5vgxw1r8t6n2m4c9b7d',
  name: EXAMPLE.name,
  subject: EXAMPLE.subject,
  createdAt: '2026-03-01T09:00:00.000Z',
  updatedAt: '2026-03-01T09:00:00.000Z',
};

export const templateSummarySchema = Type.Object(summary, {
  title: 'TemplateSummary',
  examples: [SUMMARY_EXAMPLE],
});

export const variablesSchema = Type.Array(
  Type.Object({ name: Type.String(), fallback: Type.Optional(Type.String()) }),
  { description: 'Variables that the subject, the HTML or the text contains.' },
);

export const templateSchema = Type.Object(
  {
    ...summary,
    html: Type.String(),
    text: Type.Union([Type.String(), Type.Null()]),
    variables: variablesSchema,
  },
  {
    title: 'Template',
    examples: [
      {
        ...SUMMARY_EXAMPLE,
        html: EXAMPLE.html,
        text: EXAMPLE.text,
        variables: [{ name: 'firstName', fallback: 'friend' }, { name: 'company' }],
      },
    ],
  },
);

type TemplateText = Pick<TemplateRow, 'subject' | 'html' | 'text'>;

/**
 * Checks a template. `given` holds the fields of the request, which errors name.
 * @throws AppError validation_error naming the field
 */
export function checkTemplate(template: TemplateText, given: TemplateChange): void {
  checkSource('html', template.html);
  if (template.text !== null) checkSource('text', template.text);
  const blamed = (['html', 'text', 'subject'] as const).find((field) => given[field] !== undefined);
  const variables = findTemplateVariables(template);
  checkVariables(blamed ?? 'html', new Set(variables.map(({ name }) => name)));
  // Fields that a change leaves out may have such tags from an earlier version.
  for (const field of ['subject', 'html', 'text'] as const) refuseUnknownTags(field, given[field] ?? '');
}

/**
 * Refuses tags that would stand in the mail as they are written.
 * @throws AppError validation_error naming the field
 */
function refuseUnknownTags(field: string, source: string): void {
  const tags = findUnknownTags(source);
  if (tags.length === 0) return;
  throw invalid(
    field,
    `\`${field}\` has tags that are not known: ${tags.join(', ')}. There are {{name}}, {{name|fallback}}, {{{name}}}, {{url name}}, {{raw name}} and {{#if name}}…{{else}}…{{/if}}, with each {{#if}} closed and at most 8 of them nested`,
  );
}

/** Returns the variables of subject, HTML and text together. */
export function findTemplateVariables({
  subject,
  html,
  text,
}: TemplateText): ReturnType<typeof findVariables> {
  const sources: Source[] = [
    ['subject', subject],
    ['html', html],
    ['text', text ?? ''],
  ];
  return findVariables(sources);
}

/**
 * Checks the source of one text.
 * @throws AppError validation_error naming the field
 */
export function checkSource(field: 'html' | 'text', source: string): void {
  if (source.includes('\0')) throw invalid(field, `\`${field}\` must not contain NUL`);
  if (!source.isWellFormed()) throw invalid(field, `\`${field}\` must be well-formed Unicode`);
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES)
    throw invalid(field, `\`${field}\` must be at most 1 MiB`);
}

/**
 * Checks the number of variables. `names` are those of subject, HTML and text together.
 * @throws AppError validation_error naming `blamed`
 */
export function checkVariables(blamed: string, names: ReadonlySet<string>): void {
  if (names.size <= MAX_VARIABLES) return;
  throw invalid(
    blamed,
    `Subject, HTML and text may contain at most ${MAX_VARIABLES} variables together; they contain ${names.size}`,
  );
}

export type TemplateSummary = Omit<TemplateRow, 'html' | 'text'>;

/** Returns a template as the list shows it. */
export function showTemplateSummary(row: TemplateSummary): Static<typeof templateSummarySchema> {
  return {
    id: row.id,
    name: row.name,
    subject: row.subject,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** Returns a template as the API shows it. */
export function showTemplate(row: TemplateRow): Static<typeof templateSchema> {
  const { html, text } = row;
  return { ...showTemplateSummary(row), html, text, variables: findTemplateVariables(row) };
}
