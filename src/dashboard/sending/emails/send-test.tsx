/** A form that sends one email, to try what an application would send. */
import type { Static } from 'typebox';
import { sandboxDomain, simulatorDomain } from '../../../domains/name.ts';
import type { domainSchema } from '../../../domains/schemas.ts';
import type { SendBody } from '../../../emails/schemas.ts';
import type { sentSchema } from '../../../emails/sent-schemas.ts';
import type { Form as EnteredForm } from '../../../http/pages/form-body.ts';
import { invalid } from '../../../system/errors.ts';
import type { templateSummarySchema } from '../../../templates/schemas.ts';
import { Heading } from '../../frame/elements.tsx';
import { Field, Form, Select } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { emailPath } from './facts.tsx';

/** Maximum number of domains and of templates that the form offers; others can be typed, or chosen on the page of the template. */
const MAX_OFFERED = 100;

/** Local parts of the simulator, each named for what becomes of its mail. */
const SIMULATED = ['delivered', 'bounced', 'complained', 'delayed', 'suppressed', 'opened', 'clicked'];

const ACTION = 'send';

export const sendTestPage = definePage({
  area: 'tenant',
  path: '/send-test',
  needs: 'write',
  menu: { group: 'sending', label: ({ sendTest }) => sendTest.title },
  async show(context) {
    const { texts } = context;
    return {
      title: texts.sendTest.title,
      body: (
        <>
          <Heading title={texts.sendTest.title} />
          <p>{texts.sendTest.help[context.mode]}</p>
          <TestForm
            context={context}
            senders={await sendersOf(context)}
            templates={await templatesOf(context)}
          />
        </>
      ),
    };
  },
  actions: {
    [ACTION]: {
      logs: ['from', 'templateId'],
      async run(context, form) {
        const { id } = await context.api.post<Static<typeof sentSchema>>('/emails', bodyOf(form));
        return { to: emailPath(context, id), said: 'sent' };
      },
    },
  },
});

type Templates = readonly Static<typeof templateSummarySchema>[];
type FormProps = { context: TenantContext; senders: readonly string[]; templates: Templates };

function TestForm({ context, senders, templates }: FormProps) {
  const { sendTest } = context.texts;
  const field = { context, action: ACTION };
  const simulator = simulatorDomain(context.app.config);
  const recipients = SIMULATED.map((name) => `${name}@${simulator}`);
  const options = templates.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <Form context={context} action={ACTION} submit={sendTest.send} keepsDraft>
      <Field
        {...field}
        name="from"
        label={sendTest.from}
        value={senders[0]}
        suggestions={senders.map(asOption)}
        isRequired
      />
      <Field
        {...field}
        name="to"
        label={sendTest.to}
        value={recipients[0]}
        suggestions={recipients.map(asOption)}
        help={sendTest.toHelp(simulator)}
        isRequired
      />
      <Field {...field} name="subject" label={sendTest.subject} value={sendTest.subjectValue} isRequired />
      {options.length > 0 && (
        <>
          <Select
            {...field}
            name="templateId"
            label={sendTest.template}
            value={context.query.get('template') ?? ''}
            options={[{ value: '', label: sendTest.noTemplate }, ...options]}
          />
          <Field
            {...field}
            name="variables"
            label={sendTest.variables}
            help={sendTest.variablesHelp}
            rows={3}
          />
        </>
      )}
      <Field {...field} name="html" label={sendTest.html} rows={8} help={sendTest.htmlHelp} />
      <Field {...field} name="text" label={sendTest.text} value={sendTest.textValue} rows={6} />
    </Form>
  );
}

const asOption = (value: string) => ({ value, label: value });

/** Returns addresses from which this mode can send: at the domains that are verified, and at the sandbox. */
async function sendersOf({ api, app, mode }: TenantContext): Promise<string[]> {
  const { data } = await api.get<{ data: readonly Static<typeof domainSchema>[] }>('/domains', {
    status: 'verified',
    limit: MAX_OFFERED,
  });
  const own = data.map(({ name }) => name);
  const sandbox = sandboxDomain(app.config);
  const domains = mode === 'test' ? [sandbox, ...own] : [...own, sandbox];
  return domains.map((domain) => `test@${domain}`);
}

async function templatesOf({ api }: TenantContext): Promise<Templates> {
  return (await api.get<{ data: Templates }>('/templates', { limit: MAX_OFFERED })).data;
}

/** Returns the email that the form describes. Fields that are empty are left out, and a template takes the place of the HTML. */
function bodyOf(form: EnteredForm): SendBody {
  const templateId = fieldOf(form, 'templateId');
  const html = fieldOf(form, 'html');
  const text = fieldOf(form, 'text');
  const to = fieldOf(form, 'to')
    .split(/[,\n]/)
    .map((address) => address.trim());
  const variables = readVariables(fieldOf(form, 'variables'));
  return {
    from: fieldOf(form, 'from').trim(),
    to: to.filter((address) => address !== ''),
    subject: fieldOf(form, 'subject').trim(),
    type: 'transactional',
    ...(templateId === ''
      ? { ...(html.trim() !== '' && { html }), ...(text.trim() !== '' && { text }) }
      : { templateId, variables }),
    ...(templateId === '' && Object.keys(variables).length > 0 && { variables }),
  };
}

/**
 * Returns the variables of lines such as `firstName=Ada`.
 * @throws AppError validation_error
 */
function readVariables(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw invalid('variables', '`variables`: each line must have the form name=value');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
