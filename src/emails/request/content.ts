/** Reads the content of an email: its own text or a template's, with the values for its placeholders. */

import { readAll, readEach } from '../../http/json/read-fields.ts';
import { invalid } from '../../system/errors.ts';
import type { VariableValue } from '../../templates/render.ts';
import type { SendBody } from '../schemas.ts';
import { readLine, readText, wellFormed } from './text.ts';

export type ContentRequest = {
  subject: string;
  html: string | undefined;
  text: string | undefined;
  amp?: string | undefined;
  templateId: string | undefined;
  /** Values of the placeholders. When undefined, the fields of the request itself are not rendered. */
  variables: Readonly<Record<string, VariableValue>> | undefined;
};

/** Maximum size of the value of a variable. */
const MAX_VARIABLE_BYTES = 10 * 1024;

type ContentFields = Pick<SendBody, 'subject' | 'html' | 'text' | 'amp' | 'templateId' | 'variables'>;

/**
 * Returns the content of a request.
 * @throws AppError validation_error naming the field
 */
export function readContent(body: ContentFields): ContentRequest {
  const { text, templateId, variables } = body;
  return {
    ...readAll({
      subject: () => readLine('subject', body.subject),
      html: () => readHtml(body),
      text: () => (text === undefined ? undefined : readText('text', text)),
      amp: () => (body.amp === undefined ? undefined : readAmp(body.amp, body)),
      variables: () => variables && readVariables(variables),
    }),
    templateId,
  };
}

function readHtml({ html, text, templateId }: ContentFields): string | undefined {
  if (html === undefined && text === undefined && templateId === undefined)
    throw invalid('html', '`html` is required when `text` and `templateId` are absent');
  if (html !== undefined && templateId !== undefined)
    throw invalid('html', '`html` cannot be combined with `templateId`');
  return html === undefined ? undefined : readText('html', html);
}

/** Maximum size of an AMP part, from which Gmail shows the HTML instead (Gmail, AMP for email, requirements). */
const MAX_AMP_BYTES = 200_000;
/** Matches the element by which mail programs know AMP for email (AMP for email specification, required markup). */
const AMP_ROOT = /<html(?=\s)[^>]*\s(?:⚡4email|amp4email)(?=[\s=>])/i;

/** An AMP part alone would be shown by few programs, so the email needs HTML beside it. */
function readAmp(amp: string, { html, templateId }: ContentFields): string {
  if (html === undefined && templateId === undefined)
    throw invalid('amp', '`amp` needs `html` or `templateId`, which programs without AMP show');
  if (!AMP_ROOT.test(amp))
    throw invalid('amp', '`amp` must be a document of AMP for email, which has `<html ⚡4email>`');
  return requireAmpSize(readText('amp', amp));
}

/**
 * Returns an AMP part if it is small enough. It is checked again when its placeholders are filled in.
 * @throws AppError validation_error
 */
export function requireAmpSize(amp: string): string {
  if (Buffer.byteLength(amp) > MAX_AMP_BYTES)
    throw invalid('amp', `\`amp\` must be at most ${MAX_AMP_BYTES} bytes`);
  return amp;
}

function readVariables(variables: Readonly<Record<string, VariableValue>>) {
  readEach(Object.entries(variables), ([name, value]) => {
    if (typeof value !== 'string') return;
    const path = `variables.${name}`;
    if (Buffer.byteLength(value) > MAX_VARIABLE_BYTES)
      throw invalid(path, `\`${path}\` must be at most 10 KiB`);
    if (value.includes('\0')) throw invalid(path, `\`${path}\` must not contain NUL`);
    wellFormed(path, value);
  });
  return variables;
}
