/** Adds a webhook endpoint. Its secret is the answer of the form, and is not shown again. */
import type { Static } from 'typebox';
import { EVENT_TYPES } from '../../../events/store.ts';
import type { Form as SentForm } from '../../../http/pages/form-body.ts';
import type { secretEndpointSchema } from '../../../webhooks/schemas.ts';
import { Copyable, Heading } from '../../frame/elements.tsx';
import { Checkbox, Choices, Field, Form } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { domainField, readDomain } from '../domains/choice.tsx';

export type EndpointWithSecret = Static<typeof secretEndpointSchema>;

const ACTION = 'add';

export const newWebhookPage = definePage({
  area: 'tenant',
  path: '/webhooks/new',
  needs: 'write',
  async show(context) {
    const { webhooks } = context.texts;
    return {
      title: webhooks.add,
      body: (
        <>
          <Heading title={webhooks.add} />
          <p>{webhooks.ofMode[context.mode]}</p>
          <Form context={context} action={ACTION} submit={webhooks.add}>
            <EndpointFields context={context} action={ACTION} />
            {await domainField(context, { action: ACTION, help: webhooks.domainHelp })}
          </Form>
        </>
      ),
    };
  },
  actions: {
    [ACTION]: {
      logs: ['domainId', 'events'],
      async run(context, form) {
        const domain = await readDomain(context, form);
        const endpoint = await context.api.post<EndpointWithSecret>('/webhooks', {
          ...endpointFields(form),
          domainId: domain?.id ?? null,
        });
        return {
          title: context.texts.webhooks.secretTitle,
          body: <NewSecret context={context} endpoint={endpoint} />,
        };
      },
    },
  },
});

type Values = { url: string; description: string | null; events: readonly string[] };
const NO_VALUES: Values = { url: '', description: null, events: [] };

/** Returns the fields that an endpoint is made and changed with. */
export function endpointFields(form: SentForm): Values {
  const description = fieldOf(form, 'description').trim();
  return {
    url: fieldOf(form, 'url').trim(),
    description: description === '' ? null : description,
    events: form.values('events'),
  };
}

type FieldsProps = { context: TenantContext; action: string; values?: Values };

/** The fields of an endpoint: its address, its description, and its events by their resource. */
export function EndpointFields({ context, action, values = NO_VALUES }: FieldsProps) {
  const { webhooks } = context.texts;
  const field = { context, action };
  const groups = Map.groupBy(EVENT_TYPES, (type) => type.split('.', 1)[0] ?? type);
  return (
    <>
      <Field
        {...field}
        name="url"
        type="url"
        label={webhooks.url}
        value={values.url}
        help={context.app.config.webhooks.allowHttp ? webhooks.urlHelpWithHttp : webhooks.urlHelp}
        placeholder="https://"
        isRequired
      />
      <Field {...field} name="description" label={webhooks.description} value={values.description ?? ''} />
      <Choices name="events" label={webhooks.events}>
        {[...groups].map(([resource, types]) => (
          <div key={resource}>
            {types.map((type) => (
              <Checkbox
                {...field}
                key={type}
                name="events"
                value={type}
                label={type}
                isChecked={values.events.includes(type)}
              />
            ))}
          </div>
        ))}
      </Choices>
    </>
  );
}

/** The page that shows a secret once. */
export function NewSecret({ context, endpoint }: { context: TenantContext; endpoint: EndpointWithSecret }) {
  const { webhooks } = context.texts;
  return (
    <>
      <Heading title={webhooks.secretTitle} />
      <p>{webhooks.secretText}</p>
      <p>
        <Copyable context={context} text={endpoint.secret} />
      </p>
      <p>
        <a href={context.at(`/webhooks/${endpoint.id}`)}>{webhooks.toEndpoint}</a>
      </p>
    </>
  );
}
