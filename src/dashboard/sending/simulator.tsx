/** The switch of the simulator: which SMTP reply it gives to test mail. */
import type { Static } from 'typebox';
import { simulatorDomain } from '../../domains/name.ts';
import type { replySchema } from '../../simulator/schemas.ts';
import { invalid } from '../../system/errors.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Field, Form, Select } from '../frame/forms.tsx';
import { tenantPath } from '../frame/layout.tsx';
import { definePage, fieldOf, type TenantContext } from '../page.ts';

type Reply = Static<typeof replySchema>['reply'];

const PATH = '/simulator';

export const simulatorPage = definePage({
  area: 'tenant',
  path: PATH,
  menu: { group: 'sending', label: ({ simulator }) => simulator.title },
  async show(context) {
    const { api, mode, texts } = context;
    return {
      title: texts.simulator.title,
      body: (
        <>
          <Heading title={texts.simulator.title} />
          <p>{texts.simulator.help(simulatorDomain(context.app.config))}</p>
          {mode === 'test' ? (
            <Switch
              context={context}
              reply={(await api.get<Static<typeof replySchema>>('/simulator/reply')).reply}
            />
          ) : (
            <p class="empty">
              <a href={tenantPath(context.tenant.tenantName, 'test') + PATH}>{texts.simulator.testOnly}</a>
            </p>
          )}
        </>
      ),
    };
  },
  actions: {
    set: {
      logs: ['code', 'enhancedCode', 'recipients'],
      async run({ api, at }, form) {
        const enhancedCode = fieldOf(form, 'enhancedCode').trim();
        const text = fieldOf(form, 'text').trim();
        await api.put('/simulator/reply', {
          code: readCode(fieldOf(form, 'code')),
          ...(enhancedCode !== '' && { enhancedCode }),
          ...(text !== '' && { text }),
          recipients: fieldOf(form, 'recipients'),
        });
        return { to: at(PATH), said: 'saved' };
      },
    },
    remove: {
      async run({ api, at }) {
        await api.delete('/simulator/reply');
        return { to: at(PATH), said: 'deleted' };
      },
    },
  },
});

/** The API takes a number, and says which ones. */
function readCode(text: string): number {
  if (!/^[0-9]{3}$/.test(text.trim())) throw invalid('code', '`code` must have three digits');
  return Number(text);
}

function Switch({ context, reply }: { context: TenantContext; reply: Reply }) {
  const { simulator } = context.texts;
  const field = { context, action: 'set' };
  const recipients = (['custom', 'all'] as const).map((value) => ({
    value,
    label: simulator.recipientNames[value],
  }));
  return (
    <>
      <h2>{simulator.present}</h2>
      {reply === null ? (
        <p>{simulator.none}</p>
      ) : (
        <>
          <p>
            <code>
              <Foreign
                text={[reply.code, reply.enhancedCode, reply.text].filter((part) => part !== null).join(' ')}
              />
            </code>{' '}
            {simulator.recipientNames[reply.recipients]} (<Time context={context} at={reply.updatedAt} />)
          </p>
          {context.can('write') && (
            <ActionButton context={context} action="remove" submit={simulator.remove} isDangerous />
          )}
        </>
      )}
      {context.can('write') && (
        <section aria-labelledby="choose">
          <h2 id="choose">{simulator.choose}</h2>
          <Form context={context} action="set" submit={simulator.set}>
            <Field
              {...field}
              name="code"
              label={simulator.code}
              value={String(reply?.code ?? 550)}
              help={simulator.codeHelp}
              isRequired
            />
            <Field
              {...field}
              name="enhancedCode"
              label={simulator.enhancedCode}
              value={reply?.enhancedCode ?? ''}
            />
            <Field {...field} name="text" label={simulator.text} value={reply?.text ?? ''} />
            <Select
              {...field}
              name="recipients"
              label={simulator.recipients}
              value={reply?.recipients ?? 'custom'}
              options={recipients}
            />
          </Form>
        </section>
      )}
    </>
  );
}
