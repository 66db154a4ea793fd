/** The editor of a template, with its preview. The API renders the preview, so that it shows what readers get. */
import type { ComponentChildren } from 'preact';
import type { Static } from 'typebox';
import { CONFIRM_URL } from '../../../audiences/opt-in/settings.ts';
import type { previewSchema } from '../../../emails/preview-api.ts';
import type { Form as SentForm } from '../../../http/pages/form-body.ts';
import { Page } from '../../../http/pages/page.tsx';
import { renderPage } from '../../../http/pages/render.ts';
import { AppError } from '../../../system/errors.ts';
import { UNSUBSCRIBE_URL } from '../../../templates/render.ts';
import type { templateSchema } from '../../../templates/schemas.ts';
import { Field, Form } from '../../frame/forms.tsx';
import { Why } from '../../frame/refusal.tsx';
import { type Answer, fieldOf, type TenantContext } from '../../page.ts';

export type Template = Static<typeof templateSchema>;
type Preview = Static<typeof previewSchema>;

export const SAVE = 'save';
/** Name of the frame that shows previews. */
const FRAME = 'preview';
const MIB = 1024 * 1024;
/** Maximum size of the form: HTML and text of 1 MiB each, of which every byte may be encoded in three, and everything else. */
export const EDITOR_UPLOAD = { maxBytes: 7 * MIB, maxFiles: 0 };
/** Number of lines of the fields. */
const HTML_ROWS = 18;
const TEXT_ROWS = 8;

type EditorProps = {
  context: TenantContext;
  template: Pick<Template, 'name' | 'subject' | 'html' | 'text' | 'variables'>;
  /** Address of the preview of what is saved. */
  savedPreview?: string;
};

/** The fields of a template, with buttons that show in a frame what they give. */
export function Editor({ context, template, savedPreview }: EditorProps) {
  const { templates, frame } = context.texts;
  const { name, subject, html, text, variables } = template;
  const field = { context, action: SAVE };
  return (
    <>
      <Form
        {...field}
        submit={frame.save}
        keepsDraft
        others={[
          { action: 'previewHtml', label: templates.previewHtml, frame: FRAME },
          { action: 'previewText', label: templates.previewText, frame: FRAME },
        ]}
      >
        <Field
          {...field}
          name="name"
          label={templates.name}
          value={name}
          help={templates.nameHelp}
          isRequired
        />
        <Field {...field} name="subject" label={templates.subject} value={subject} isRequired />
        <Field
          {...field}
          name="html"
          label={templates.html}
          value={html}
          help={templates.htmlHelp}
          rows={HTML_ROWS}
          isRequired
        />
        <Field
          {...field}
          name="text"
          label={templates.text}
          value={text ?? ''}
          help={templates.textHelp}
          rows={TEXT_ROWS}
        />
        <Field
          {...field}
          name="values"
          label={templates.values}
          value={valueLines(variables)}
          help={templates.valuesHelp}
          rows={4}
        />
      </Form>
      <h2>{templates.preview}</h2>
      <iframe class="preview" name={FRAME} title={templates.preview} sandbox="" src={savedPreview} />
    </>
  );
}

/** Returns a line for each variable, to which somebody adds a value. */
export function valueLines(variables: Template['variables']): string {
  return variables
    .filter(({ name }) => !OF_THE_DAEMON.includes(name))
    .map(({ name }) => `${name}=`)
    .join('\n');
}

/** Variables whose values are links that each email gets when it is made. */
export const OF_THE_DAEMON: readonly string[] = [UNSUBSCRIBE_URL, CONFIRM_URL];

/** Returns the values of the lines. A line without a value leaves the variable to its fallback. */
export function valuesIn(lines: string): Record<string, string> {
  const values = lines.split(/\r?\n/).flatMap((line) => {
    const end = line.indexOf('=');
    const value = line.slice(end + 1).trim();
    return end < 1 || value === '' ? [] : [[line.slice(0, end).trim(), value] as const];
  });
  return Object.fromEntries(values);
}

/** Returns the template that the form has, as the API takes it. */
export function templateIn(form: SentForm) {
  return { name: fieldOf(form, 'name').trim(), ...contentIn(form) };
}

/** Browsers send the ends of lines as CRLF; templates keep them as they are written elsewhere. */
function contentIn(form: SentForm) {
  const linesOf = (name: string) => fieldOf(form, name).replaceAll('\r\n', '\n');
  const text = linesOf('text');
  return { subject: fieldOf(form, 'subject'), html: linesOf('html'), text: text === '' ? null : text };
}

/** Actions that show what was entered, without saving it. */
export const PREVIEWS = {
  previewHtml: {
    needs: 'read',
    isAudited: false,
    run: (context: TenantContext, form: SentForm) =>
      showPreview(context, contentIn(form), { values: fieldOf(form, 'values'), part: 'html' }),
  },
  previewText: {
    needs: 'read',
    isAudited: false,
    run: (context: TenantContext, form: SentForm) =>
      showPreview(context, contentIn(form), { values: fieldOf(form, 'values'), part: 'text' }),
  },
} as const;

/** Returns the frame with a part of a content; a content that is refused gives the reason. */
export async function showPreview(
  context: TenantContext,
  content: Pick<Template, 'subject' | 'html' | 'text'>,
  { values, part }: { values: string; part: 'html' | 'text' },
): Promise<Answer> {
  try {
    const body = { ...content, variables: valuesIn(values) };
    const preview = await context.api.post<Preview>('/templates/preview', body);
    return {
      frame: part === 'html' ? preview.html : renderPage(<TextPart context={context} preview={preview} />),
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return {
      frame: renderPage(
        <Document context={context}>
          <p>
            <Why context={context} refusal={error} />
          </p>
        </Document>,
      ),
    };
  }
}

function TextPart({ context, preview }: { context: TenantContext; preview: Preview }) {
  const { templates } = context.texts;
  const { subject, text, missingVariables } = preview;
  return (
    <Document context={context}>
      <h1 dir="auto">{subject}</h1>
      {missingVariables.length > 0 && (
        <p>
          {templates.missing} <strong>{missingVariables.join(', ')}</strong>
        </p>
      )}
      <pre dir="auto">{text}</pre>
    </Document>
  );
}

/** A document of our own in the frame, which loads no stylesheet. */
function Document({ context, children }: { context: TenantContext; children: ComponentChildren }) {
  const style = 'body{font:1rem/1.5 system-ui,sans-serif}h1{font-size:1.2rem}pre{white-space:pre-wrap}';
  return (
    <Page
      title={context.texts.templates.preview}
      lang={context.formats.language}
      head={<style>{style}</style>}
    >
      {children}
    </Page>
  );
}
