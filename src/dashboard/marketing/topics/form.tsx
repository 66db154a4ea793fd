/** The fields of a topic, in the form of a new one and in that of a change. */
import type { Static } from 'typebox';
import type { Form } from '../../../http/pages/form-body.ts';
import type { topicSchema } from '../../../topics/schemas.ts';
import { Checkbox, Field } from '../../frame/forms.tsx';
import { fieldOf, type TenantContext } from '../../page.ts';

type Props = { context: TenantContext; action: string; topic?: Static<typeof topicSchema> };

export function TopicFields({ context, action, topic }: Props) {
  const { topics } = context.texts;
  const field = { context, action };
  return (
    <>
      <Field
        {...field}
        name="name"
        label={topics.name}
        help={topics.nameHelp}
        value={topic?.name}
        isRequired
      />
      <Field
        {...field}
        name="description"
        label={topics.description}
        help={topics.descriptionHelp}
        value={topic?.description ?? ''}
      />
      <Checkbox
        {...field}
        name="defaultOptIn"
        label={topics.defaultOptIn}
        isChecked={topic?.defaultOptIn ?? true}
      />
    </>
  );
}

/** Returns the topic of a form, as the API takes it. */
export function readTopic(form: Form) {
  return {
    name: fieldOf(form, 'name').trim(),
    description: fieldOf(form, 'description').trim() || null,
    defaultOptIn: fieldOf(form, 'defaultOptIn') === 'on',
  };
}
