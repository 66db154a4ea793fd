/** What an email says, as it was asked for: its own text, or a template's, with the values to fill in. */
import { invalid } from '../../system/errors.ts';
import type { VariableValue } from '../../templates/render.ts';
import type { SendBody } from '../schemas.ts';
import { readLine, readText, wellFormed } from './text.ts';

export type ContentRequest = {
  subject: string;
  html: string | undefined;
  text: string | undefined;
  templateId: string | undefined;
  /** Undefined: nothing of the request's own is rendered (decisions.md 2). */
  variables: Readonly<Record<string, VariableValue>> | undefined;
};

/** api.md 1.10, size limits. */
const MOST_VARIABLE_BYTES = 10 * 1024;

type ContentFields = Pick<SendBody, 'subject' | 'html' | 'text' | 'templateId' | 'variables'>;

/** @throws AppError validation_error naming the field */
export function readContent(body: ContentFields): ContentRequest {
  const { html, text, templateId } = body;
  if (html === undefined && text === undefined && templateId === undefined)
    throw invalid('html', '`html` is required when `text` and `templateId` are absent');
  if (html !== undefined && templateId !== undefined)
    throw invalid('html', '`html` cannot be combined with `templateId`');
  return {
    subject: readLine('subject', body.subject),
    html: html === undefined ? undefined : readText('html', html),
    text: text === undefined ? undefined : readText('text', text),
    templateId,
    variables: body.variables && readVariables(body.variables),
  };
}

function readVariables(variables: Readonly<Record<string, VariableValue>>) {
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value !== 'string') continue;
    const path = `variables.${name}`;
    if (Buffer.byteLength(value) > MOST_VARIABLE_BYTES)
      throw invalid(path, `\`${path}\` must be at most 10 KiB`);
    if (value.includes('\0')) throw invalid(path, `\`${path}\` must not contain NUL`);
    wellFormed(path, value);
  }
  return variables;
}
