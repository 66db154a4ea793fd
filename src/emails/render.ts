/** From what an email was asked to say to what it says: the template fetched, variables filled in, a text made. */
import type { App } from '../app.ts';
import type { TemplateRow } from '../db/marketing-tables.ts';
import { invalid } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import { renderTemplate } from '../templates/render.ts';
import { MAX_SUBJECT_CHARACTERS } from '../templates/schemas.ts';
import { findTemplate } from '../templates/store.ts';
import type { Caller } from '../tenants/authenticate.ts';
import type { ContentRequest } from './request/content.ts';
import { asLine, readText } from './request/text.ts';

export type Content = {
  subject: string;
  html: string | undefined;
  text: string | undefined;
  /** Placeholders that had neither a value nor a fallback. */
  missingVariables: string[];
};

/**
 * Asked for the characters that are not in the request itself but come with a template or variables: all of them are held
 * until the request is stored. Answers how to give them back, should it come to nothing.
 *
 * @throws AppError unavailable, or validation_error when there are too many
 */
export type HoldText = (characters: number) => () => void;

/**
 * What the request carries itself is rendered when it carries variables too; what a template carries always is
 * (decisions.md 2).
 *
 * @throws AppError validation_error for a template the tenant does not have, or a text that variables made too long; and
 * what `holdText` throws
 */
export async function renderContent(
  app: Pick<App, 'db' | 'htmlText'>,
  tenantId: Caller['tenantId'],
  { request, holdText }: { request: ContentRequest; holdText: HoldText },
): Promise<Content> {
  const template = await requireTemplate(app, tenantId, request.templateId);
  const missing = new Set<string>();
  const fill = (source: string, form: 'html' | 'text'): string => {
    const rendered = renderTemplate(source, request.variables ?? {}, form);
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
  // Sizes are of what is sent, and variables change them.
  const filled = {
    html: html === undefined ? undefined : readText(template ? 'templateId' : 'html', html),
    text: text === undefined ? undefined : readText('text', text),
  };
  holdText(Math.max(0, charactersOf(filled) - charactersOf(request)));
  return {
    subject,
    html: filled.html,
    text: await textOf(app, filled.text, filled.html),
    missingVariables: [...missing],
  };
}

function charactersOf({ html = '', text = '' }: Pick<ContentRequest, 'html' | 'text'>): number {
  return html.length + text.length;
}

/** Specification 4.1: generated from the HTML when omitted. HTML without words has none. */
async function textOf(
  app: Pick<App, 'htmlText'>,
  text: string | undefined,
  html: string | undefined,
): Promise<string | undefined> {
  if (text !== undefined || html === undefined) return text;
  return (await app.htmlText.convert(html)) || undefined;
}

/** A value must not end the line (security.md 2.43). It may be empty: what a variable lacks is never refused. */
function asSubject(rendered: string): string {
  const subject = asLine(rendered);
  if ([...subject].length > MAX_SUBJECT_CHARACTERS)
    throw invalid('subject', `\`subject\` must be at most ${MAX_SUBJECT_CHARACTERS} characters`);
  return subject;
}

/** decisions.md 6. */
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
