/** The fields of a contact, in the form of a new one and in that of a change. */
import type { PropertyValue } from '../../../audiences/contacts/fields.ts';
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { forTextFields, givenTexts, TEXT_FIELD_NAMES } from '../../../audiences/contacts/text-fields.ts';
import type { Form } from '../../../http/pages/form-body.ts';
import { Field, Select } from '../../frame/forms.tsx';
import { fieldOf, type TenantContext } from '../../page.ts';
import { readProperties, writeProperties } from './properties.ts';

export type Topic = { id: string; name: string; defaultOptIn: boolean };

const TOPIC = 'topic.';

type Props = {
  context: TenantContext;
  action: string;
  topics: readonly Topic[];
  contact?: ShownContact;
};

export function ContactFields({ context, action, topics, contact }: Props) {
  const { audiences } = context.texts;
  const field = { context, action };
  const choices = new Map(contact?.topics.map(({ id, subscription }) => [id, subscription]));
  return (
    <>
      <Field {...field} name="email" type="email" label={audiences.email} value={contact?.email} isRequired />
      {TEXT_FIELD_NAMES.map((name) => (
        <Field
          key={name}
          {...field}
          name={name}
          label={audiences.fields[name]}
          value={contact?.[name] ?? ''}
        />
      ))}
      <Field
        {...field}
        name="properties"
        label={audiences.properties}
        help={audiences.propertiesHelp}
        rows={6}
        value={writeProperties(contact?.properties ?? {})}
      />
      {topics.length > 0 && (
        <fieldset>
          <legend>{audiences.topics}</legend>
          {topics.map((topic) => (
            <Select
              key={topic.id}
              {...field}
              name={TOPIC + topic.id}
              label={topic.name}
              value={choices.get(topic.id) ?? ''}
              options={topicOptions(context, topic, choices.has(topic.id))}
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

/** A choice that was made can be changed, and not taken back. */
function topicOptions({ texts: { audiences } }: TenantContext, topic: Topic, hasChosen: boolean) {
  const none = { value: '', label: audiences.topicDefault(topic.defaultOptIn) };
  return [
    ...(hasChosen ? [] : [none]),
    { value: 'opt_in', label: audiences.topicIn },
    { value: 'opt_out', label: audiences.topicOut },
  ];
}

/** Returns the contact of a form, as the API takes it. `before` is what stands there when it is a change. */
export function readContact(form: Form, before?: Readonly<Record<string, PropertyValue>>) {
  const topics = form.names.flatMap((name) => {
    const subscription = fieldOf(form, name);
    return name.startsWith(TOPIC) && subscription !== ''
      ? [{ id: name.slice(TOPIC.length), subscription }]
      : [];
  });
  const texts = forTextFields((name) => fieldOf(form, name).trim() || (before ? null : undefined));
  return {
    email: fieldOf(form, 'email').trim(),
    ...givenTexts(texts),
    properties: readProperties(fieldOf(form, 'properties'), before),
    ...(topics.length > 0 && { topics }),
  };
}
