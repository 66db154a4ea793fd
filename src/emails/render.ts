/** Renders the content of an email: it loads the template, fills in variables, and generates the text part. */
import type { App } from '../app.ts';
import type { TemplateRow } from '../db/marketing-tables.ts';
import type { TextOrigin } from '../mail/message/html-text.ts';
import { invalid } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import { MAX_SUBJECT_CHARACTERS, renderTemplate } from '../templates/render.ts';
import { findTemplate } from '../templates/store.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { type ContentRequest, requireAmpSize } from './request/content.ts';
import { asLine } from './request/line.ts';
import { readText } from './request/text.ts';

export type Content = {
  subject: string;
  html: string | undefined;
  text: string | undefined;
  amp: string | undefined;
  /** The origin of a text that was generated from the HTML. */
  generated: TextOrigin | undefined;
  /** Names of placeholders that had neither a value nor a fallback. */
  missingVariables: string[];
};

/**
 * Reserves memory for characters that come from a template or from variables and are not part of the request itself.
 * They are held until the request is stored. Returns a function that releases the memory, for an email that fails.
 *
 * @throws AppError unavailable, or validation_error when there are too many characters
 */
export type HoldText = (characters: number) => () => void;

type Rendering = {
  request: ContentRequest;
  holdText: HoldText;
  /** Variables that are filled in later, because each reader has another value. Their values here are their placeholders. */
  readerVariables: Readonly<Record<string, string>> | undefined;
};

/**
 * Returns the rendered content. Fields of the request are rendered only when it has variables, so that `{{` in other
 * mail stays as it is. A template is always rendered.
 *
 * @throws AppError validation_error for a template that the tenant does not have, or a text that variables made too
 * long; any error of `holdText`
 */
export async function renderContent(
  app: Pick<App, 'db' | 'htmlText'>,
  tenantId: Caller['tenantId'],
  { request, holdText, readerVariables }: Rendering,
): Promise<Content> {
  const template = await requireTemplate(app, tenantId, request.templateId);
  const missing = new Set<string>();
  const fill = (source: string, form: 'html' | 'text'): string => {
    const rendered = renderTemplate(
      source,
      { ...request.variables, ...readerVariables },
      { form, isMarketing: readerVariables !== undefined },
    );
    for (const name of rendered.missing) missing.add(name);
    return rendered.text;
  };
  const own = request.variables === undefined ? (source: string) => source : fill;
  const subject =
    request.variables === undefined ? request.subject : asSubject(fill(request.subject, 'text'));
  const html = template ? fill(template.html, 'html') : request.html && own(request.html, 'html');
  const templateText = template?.text ?? undefined;
  const text =
    request.text === undefined ? templateText && fill(templateText, 'text') : own(request.text, 'text');
  const amp = request.amp && own(request.amp, 'html');
  // The size limits apply to the rendered text, because variables change its length.
  const filled = {
    html: html === undefined ? undefined : readText(template ? 'templateId' : 'html', html),
    text: text === undefined ? undefined : readText('text', text),
    amp: amp === undefined ? undefined : requireAmpSize(readText('amp', amp)),
  };
  holdText(Math.max(0, charactersOf(filled) - charactersOf(request)));
  return {
    subject,
    html: filled.html,
    amp: filled.amp,
    ...(await textOf(app, tenantId, filled)),
    missingVariables: [...missing],
  };
}

function charactersOf({
  html = '',
  text = '',
  amp = '',
}: Pick<ContentRequest, 'html' | 'text' | 'amp'>): number {
  return html.length + text.length + amp.length;
}

/**
 * Returns the text part. It is generated from the HTML when the request has no text (specification 4.1). HTML without
 * words has no text part.
 */
async function textOf(
  app: Pick<App, 'htmlText'>,
  tenantId: Caller['tenantId'],
  { html, text }: Pick<Content, 'html' | 'text'>,
): Promise<Pick<Content, 'text' | 'generated'>> {
  if (text !== undefined || html === undefined) return { text, generated: undefined };
  const { text: generated, origin } = await app.htmlText.convert(html, tenantId);
  return generated === ''
    ? { text: undefined, generated: undefined }
    : { text: generated, generated: origin };
}

/**
 * Returns the subject on one line, because a value must not end the header field. The subject may be empty: a missing
 * variable is never refused.
 */
function asSubject(rendered: string): string {
  const subject = asLine(rendered);
  if ([...subject].length > MAX_SUBJECT_CHARACTERS)
    throw invalid('subject', `\`subject\` must be at most ${MAX_SUBJECT_CHARACTERS} characters`);
  return subject;
}

/**
 * Returns the template that the request names.
 * @throws AppError validation_error when the tenant has no such template
 */
async function requireTemplate(
  app: Pick<App, 'db'>,
  tenantId: Caller['tenantId'],
  id: string | undefined,
): Promise<TemplateRow | undefined> {
  if (id === undefined) return undefined;
  const template = isId('tpl', id) ? await findTemplate(app.db.read, tenantId, id) : undefined;
  if (!template) throw invalid('templateId', '`templateId` must name an existing template');
  return template;
}
