/** Sends an email made of a saved template, so that somebody sees it in a mail program. */
import { sandboxDomain, simulatorDomain } from '../../../domains/name.ts';
import type { Form as SentForm } from '../../../http/pages/form-body.ts';
import { Field, Form } from '../../frame/forms.tsx';
import { type Answer, fieldOf, type TenantContext } from '../../page.ts';
import type { Domains } from '../domains/choice.tsx';
import { type Template, valueLines, valuesIn } from './editor.tsx';

type Props = { context: TenantContext; template: Template };

/** The form, with a sender that may send and a recipient that is at hand. */
export async function TestForm({ context, template }: Props) {
  const { templates } = context.texts;
  const { app, mode, person } = context;
  const field = { context, action: 'test' };
  const to = mode === 'test' ? `delivered@${simulatorDomain(app.config)}` : person.email;
  return (
    <>
      <h2>{templates.test}</h2>
      <p>{templates.testText}</p>
      <Form {...field} submit={templates.testNow}>
        <Field {...field} name="from" label={templates.from} value={await senderFor(context)} isRequired />
        <Field {...field} name="to" type="email" label={templates.to} value={to} isRequired />
        <Field
          {...field}
          name="values"
          label={templates.testValues}
          value={valueLines(template.variables)}
          help={templates.valuesHelp}
          rows={4}
        />
      </Form>
    </>
  );
}

/** Returns an address of a domain that may send: in live mode a verified one of the tenant, when there is one. */
async function senderFor({ api, app, mode }: TenantContext): Promise<string> {
  const sandbox = sandboxDomain(app.config);
  if (mode === 'test') return `hello@${sandbox}`;
  const { data } = await api.get<Domains>('/domains', { status: 'verified', limit: 1 });
  return `hello@${data[0]?.name ?? sandbox}`;
}

/** Sends the email, and leads to its page. */
export async function sendTest(
  { api, at }: TenantContext,
  template: Template,
  form: SentForm,
): Promise<Answer> {
  const { id } = await api.post<{ id: string }>('/emails', {
    from: fieldOf(form, 'from').trim(),
    to: fieldOf(form, 'to').trim(),
    subject: template.subject,
    templateId: template.id,
    variables: valuesIn(fieldOf(form, 'values')),
    type: 'transactional',
  });
  return { to: at(`/emails/${id}`), said: 'testSent' };
}
